#include "runtime/serve/im_api.h"

#include <re2/re2.h>
#include <algorithm>
#include <charconv>

#include "common/version.h"
#include "runtime/serve/im_call.h"
#include "runtime/serve/im_machines.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr size_t kLargestBody = size_t{16} << 20;
constexpr std::string_view kNotHere = "This service does not do that: see docs/service.md";

Answer infrastructure_uri(const ImCall& call, const Infrastructure& inf) {
  Answer answer = call.answer("text/uri-list", call.uri("/infrastructures/" + inf.id()),
                              {{"uri", call.uri("/infrastructures/" + inf.id())}});
  answer.headers.emplace_back("InfID", inf.id());
  return answer;
}

Status wait_for(const std::shared_future<Status>& future) { return future.get(); }

Answer state(const ImCall& call, const Infrastructure& inf) {
  Json machines = Json::object();
  for (const Machine& machine : inf.machines())
    machines[std::to_string(machine.number)] = state_name(inf.state_of(machine));
  return call.json({{"state", {{"state", state_name(inf.state())}, {"vm_states", std::move(machines)}}}});
}

Answer log_of_all(const ImCall& call, const Infrastructure& inf) {
  std::string text = inf.log();
  const auto header_only = call.flag("headeronly", false);
  if (!header_only.ok()) return call.unprocessable(header_only.status().message());
  if (!*header_only)
    for (const Machine& machine : inf.machines())
      text += "VM " + std::to_string(machine.number) + ":\n" + inf.log_of(machine) + "\n" +
              std::string(75, '*') + "\n";
  return call.answer("text/plain", text, {{"contmsg", text}});
}

Answer property(ImCall& call, const Infrastructure& inf, const std::string& name) {
  call.doing = "Getting Inf. prop";
  if (name == "state") return state(call, inf);
  if (name == "contmsg") return log_of_all(call, inf);
  if (name == "outputs") return call.json({{"outputs", inf.outputs()}});
  if (name == "radl") return call.answer("text/plain", inf.text(), {{"radl", inf.text()}});
  if (name == "authorization")
    return call.answer("text/plain", call.caller.user, {{"authorization", {call.caller.user}}});
  if (name == "tosca")
    return call.failed(403, "'tosca' infrastructure property is not valid in this infrastructure");
  if (name == "data") return call.failed(400, std::string(kNotHere));
  return call.unprocessable(
      "the property of an infrastructure is contmsg, radl, state, outputs, tosca, data or authorization");
}

Answer add(ImCall& call, Infrastructure& inf) {
  call.doing = "Adding resources";
  auto document = call.document();
  if (!document.ok()) return call.failed(document.status());
  auto change = inf.add(*document, call.accounts);
  if (!change.ok()) return call.failed(change.status());
  if (const Status done = wait_for(change->launched); !done.ok()) {
    auto undone = inf.undo(*change, call.accounts);  // whoever asks again must not get these as well
    if (undone.ok()) (void)wait_for(undone->over);
    return call.failed(400, done.text());
  }
  Answer answer = machine_uris(call, inf, change->made);
  answer.headers.emplace_back("InfID", inf.id());
  return answer;
}

Answer reconfigure(ImCall& call, Infrastructure& inf) {
  call.doing = "Reconfiguring infrastructure";
  const std::string numbers = call.parameter("vm_list");
  if (numbers.find_first_not_of("0123456789,") != std::string::npos)
    return call.failed(400, "Incorrect vm_list format.");
  std::optional<Document> more;
  if (!call.body.empty()) {
    auto document = call.document();
    if (!document.ok()) return call.failed(document.status());
    more = std::move(*document);
  }
  auto change = inf.reconfigure(more ? &*more : nullptr, call.accounts);
  if (!change.ok()) return call.failed(change.status());
  Answer answer = call.empty();
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
  return route(*call);
}

Answer ImApi::route(ImCall& call) {
  const auto& path = call.path;
  const std::string& method = call.head.method;
  if (path.empty())
    return call.answer("text/plain", "The Infrastructure Manager's REST API, by radlc.", {{"name", "radlc"}});
  if (path.size() == 1 && path[0] == "version")
    return call.answer("text/plain", kVersionText, {{"version", kVersionText}});
  if (path[0] == "clouds" || path[0] == "stats" || path[0] == "oai")
    return call.failed(400, std::string(kNotHere));
  if (path[0] != "infrastructures") return call.not_found();
  if (path.size() == 1) {
    if (method == "GET") return list(call);
    if (method == "POST") return create(call);
    if (method == "PUT") return call.failed(400, std::string(kNotHere));
    return call.not_allowed();
  }
  call.doing = "Getting Inf. info";
  auto inf = registry_.find(path[1]);
  if (!inf.ok()) return call.failed(404, inf.status().message());
  return with_infrastructure(call, *inf);
}

Answer ImApi::list(ImCall& call) {
  call.doing = "Getting Inf. List";
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 filter(call.parameter("filter"), quiet);
  if (!filter.ok()) return call.failed(400, "filter is not a regular expression");
  std::vector<std::string> uris;
  for (const auto& inf : registry_.all())
    if (RE2::PartialMatch(inf->text(), filter)) uris.push_back(call.uri("/infrastructures/" + inf->id()));
  return call.uris(uris);
}

Answer ImApi::create(ImCall& call) {
  call.doing = "Creating Inf.";
  const auto async = call.flag("async", false), dry = call.flag("dry_run", false);
  if (!async.ok() || !dry.ok()) return call.unprocessable("async and dry_run are yes or no");
  auto document = call.document();
  if (!document.ok()) return call.failed(document.status());
  if (*dry) return call.failed(400, std::string(kNotHere));
  auto inf = registry_.create();
  if (!inf.ok()) return call.failed(inf.status());
  auto change = (*inf)->start(*document, call.accounts);
  Status done = change.ok() ? Status() : change.status();
  if (change.ok() && !*async) done = wait_for(change->launched);
  if (done.ok()) return infrastructure_uri(call, **inf);
  // None of its machines exists: nothing of it stays.
  if (change.ok() && !wait_for((*inf)->destroy(call.accounts)).ok()) return call.failed(400, done.text());
  (void)registry_.remove((*inf)->id());
  return call.failed(400, done.text());
}

Answer ImApi::destroy(ImCall& call, const std::shared_ptr<Infrastructure>& inf) {
  call.doing = "Destroying Inf.";
  const auto force = call.flag("force", false), async = call.flag("async", false);
  if (!force.ok() || !async.ok()) return call.unprocessable("force and async are yes or no");
  if (!*force && !inf->may_be_destroyed().ok())
    return call.failed(409, "Invalid State to perform this operation.");
  const auto over = inf->destroy(call.accounts);
  if (*async) {
    registry_.remove_after(inf, over);
    return call.empty();
  }
  const Status done = wait_for(over);
  // A destroy that was cut short may have left machines: their record stays, whatever was asked for.
  if (!done.ok() && (!*force || done.code() == Code::Cancelled)) return call.failed(400, done.text());
  if (const Status removed = registry_.remove(inf->id()); !removed.ok())
    return call.failed(400, removed.text());
  return call.empty();
}

Answer ImApi::with_infrastructure(ImCall& call, const std::shared_ptr<Infrastructure>& inf) {
  const auto& path = call.path;
  const std::string& method = call.head.method;
  if (path.size() == 2) {
    if (method == "GET") return machine_uris(call, *inf, inf->machines());
    if (method == "POST") return add(call, *inf);
    if (method == "DELETE") return destroy(call, inf);
    return call.not_allowed();
  }
  if (path[2] == "vms" && path.size() >= 4) return with_machine(call, *inf);
  if (path.size() != 3) return call.not_found();
  if (method == "GET") return property(call, *inf, path[2]);
  if (method == "PUT" && path[2] == "reconfigure") return reconfigure(call, *inf);
  const bool known = path[2] == "start" || path[2] == "stop" || path[2] == "authorization";
  return known ? call.failed(400, std::string(kNotHere))
               : call.unprocessable("the operation is start, stop or reconfigure");
}

}  // namespace radl::serve
