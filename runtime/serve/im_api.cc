#include "runtime/serve/im_api.h"

#include <re2/re2.h>

#include "common/version.h"
#include "runtime/serve/im_clouds.h"
#include "runtime/serve/im_stats.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr size_t kLargestBody = size_t{16} << 20;

Answer infrastructure_uri(const ImCall& call, const Infrastructure& inf) {
  Answer answer = call.answer("text/uri-list", call.uri("/infrastructures/" + inf.id()),
                              {{"uri", call.uri("/infrastructures/" + inf.id())}});
  answer.headers.emplace_back("InfID", inf.id());
  return answer;
}

}  // namespace

Begun ImApi::begin(const httpd::RequestHead& head, const Caller& caller) {
  return with_body(head, kLargestBody,
                   [this, head, caller](const std::string& body) { return answer(head, body, caller); });
}

Answer ImApi::answer(const httpd::RequestHead& head, const std::string& body, const Caller& caller) {
  auto call = ImCall::read(head, body, scheme_, caller);
  if (!call.ok())
    return error_answer(head, call.status().code() == Code::NotFound ? 404 : 422, call.status().message());
  call->by = parts_.registry.settings_of(caller);
  const bool reads = call->method == "GET";
  if (reads && !(call->path.size() == 3 && call->path[0] == "clouds")) return route(*call);
  const auto async = call->flag("async", false);
  const auto slot = (reads || (async.ok() && *async) ? starting_ : waiting_).take(caller.user);
  if (!slot)
    return call->failed(429,
                        "Too many requests wait for machines. Try again when one of yours has been answered, "
                        "or send async=yes where the request supports it.");
  return admitted(*call);
}

Answer ImApi::admitted(ImCall& call) {
  auto accounts = parts_.registry.accounts(call.caller, call.accounts);
  if (!accounts.ok())
    return call.failed(accounts.status().code() == Code::Auth ? 403 : 400, accounts.status().text());
  call.accounts = std::move(*accounts);
  return route(call);
}

Answer ImApi::route(ImCall& call) {
  const auto& path = call.path;
  const std::string& method = call.method;
  const bool is_known = path.empty() || (path.size() == 1 && (path[0] == "version" || path[0] == "stats"));
  if (is_known && method != "GET") return call.not_allowed("GET, HEAD");
  if (path.empty())
    return call.answer("text/plain", "The Infrastructure Manager's REST API, by radlc.", {{"name", "radlc"}});
  if (path.size() == 1 && path[0] == "version")
    return call.answer("text/plain", kVersionText, {{"version", kVersionText}});
  if (path.size() == 3 && path[0] == "clouds") return with_cloud(call);
  if (path.size() == 1 && path[0] == "stats") return stats(call, parts_.registry);
  if (path[0] != "infrastructures") return call.not_found();
  if (path.size() == 1) {
    if (method == "GET") return list(call);
    if (method == "POST") return create(call);
    if (method == "PUT") return take(call);
    return call.not_allowed("GET, HEAD, POST, PUT");
  }
  call.doing = "Getting Inf. info";
  auto inf = parts_.registry.find(path[1]);
  if (!inf.ok()) return call.failed(404, inf.status().message());
  return with_infrastructure(call, parts_, *inf);
}

Answer ImApi::list(ImCall& call) {
  call.doing = "Getting Inf. List";
  RE2::Options quiet;
  quiet.set_log_errors(false);
  quiet.set_dot_nl(true);  // as the reference's expressions are searched in whole documents
  const RE2 filter(call.parameter("filter"), quiet);
  if (!filter.ok()) return call.failed(400, "filter is not a regular expression");
  std::vector<std::string> uris;
  for (const auto& inf : parts_.registry.all())
    if (inf->is_touched_by(call.caller) && RE2::PartialMatch(inf->text(), filter))
      uris.push_back(call.uri("/infrastructures/" + inf->id()));
  return call.uris(uris);
}

Answer ImApi::create(ImCall& call) {
  call.doing = "Creating Inf.";
  const auto async = call.flag("async", false), dry = call.flag("dry_run", false);
  if (!async.ok() || !dry.ok()) return call.unprocessable("async and dry_run are yes or no");
  if (!call.caller.may(*dry ? Scope::Plan : Scope::Apply))
    return call.failed(403, std::string("The token's scope does not include ") + (*dry ? "plan." : "apply."));
  auto document = call.document();
  if (!document.ok()) return call.unparsable(document.status());
  // Its functions read files while it is compiled.
  if (document->is_radl2() && !call.caller.may(Scope::Apply))
    return call.failed(403, "A document of radl 2 needs the scope apply.");
  if (*dry) return dry_run(call, *document, parts_.registry);
  if (parts_.registry.count_of(call.caller.user) >= limits_.infrastructures)
    return call.failed(400, "You have " + std::to_string(limits_.infrastructures) +
                                " infrastructures, which is the limit of this service.");
  auto inf = parts_.registry.create(call.caller.user);
  if (!inf.ok()) return call.failed(inf.status());
  auto change = (*inf)->start(*document, call.order());
  Status done = change.ok() ? Status() : change.status();
  if (change.ok() && !*async) done = wait_for(change->launched);
  if (done.code() == Code::Timeout) return call.failed(504, done.text());
  if (done.ok()) return infrastructure_uri(call, **inf);
  // None of its machines exists: nothing of it stays.
  if (change.ok() && !wait_for((*inf)->destroy(call.order())).ok()) return call.failed(400, done.text());
  (void)parts_.registry.remove((*inf)->id());
  return change.ok() ? call.failed(400, done.text()) : call.failed(done);
}

Answer ImApi::take(ImCall& call) {
  call.doing = "Importing Inf.";
  // A state names files and keys of this computer: whoever writes one may use them all.
  if (!call.caller.may(Scope::Admin))
    return call.failed(403, "Only an administrator imports infrastructures.");
  auto inf = parts_.registry.take(call.body, call.caller.user);
  return inf.ok() ? infrastructure_uri(call, **inf) : call.failed(inf.status());
}

}  // namespace radl::serve
