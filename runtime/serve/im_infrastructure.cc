#include "runtime/serve/im_infrastructure.h"

#include "common/json_values.h"
#include "runtime/serve/im_machines.h"

namespace radl::serve {
namespace {

using httpd::Answer;

// Longer than any machine takes to start, and shorter than proxies wait.
constexpr std::chrono::minutes kLongestRequest{30};

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

Answer owners(const ImCall& call, const Infrastructure& inf) {
  std::string text;
  for (const std::string& owner : inf.owners()) text += (text.empty() ? "" : "\n") + owner;
  return call.answer("text/plain", text, {{"authorization", inf.owners()}});
}

// Of another service of radlc: the document and the machines, without what only this computer has.
Answer data(ImCall& call, const ImParts& parts, const std::shared_ptr<Infrastructure>& inf) {
  call.doing = "Exporting Inf.";
  auto remove = call.flag("delete", false);
  if (remove.ok()) *remove = *remove && call.head.method == "GET";  // HEAD changes nothing
  if (!remove.ok()) return call.unprocessable(remove.status().message());
  if (!call.caller.may(Scope::Apply)) return call.failed(403, "The token's scope does not include apply.");
  auto exported = inf->exported(*remove);
  if (!exported.ok()) return call.failed(exported.status());
  if (*remove)
    if (Status removed = parts.registry.remove(inf->id()); !removed.ok()) return call.failed(removed);
  return call.json({{"data", *exported}});
}

Answer property(ImCall& call, const ImParts& parts, const std::shared_ptr<Infrastructure>& inf,
                const std::string& name) {
  call.doing = "Getting Inf. prop";
  if (name == "state") return state(call, *inf);
  if (name == "contmsg") return log_of_all(call, *inf);
  if (name == "outputs") {
    const Json outputs = inf->outputs();
    if (outputs.empty() && inf->tosca().empty())
      return call.failed(403, "'outputs' infrastructure property is not valid in this infrastructure");
    return call.json({{"outputs", outputs}});
  }
  if (name == "radl") return call.answer("text/plain", inf->text(), {{"radl", inf->text()}});
  if (name == "authorization") return owners(call, *inf);
  if (name == "data") return data(call, parts, inf);
  if (name == "tosca") {
    const std::string tosca = inf->tosca();
    if (tosca.empty())
      return call.failed(403, "'tosca' infrastructure property is not valid in this infrastructure");
    return call.answer("text/plain", tosca, {{"tosca", tosca}});
  }
  return call.unprocessable(
      "the property of an infrastructure is contmsg, radl, state, outputs, tosca, data or authorization");
}

Answer add(ImCall& call, Infrastructure& inf) {
  call.doing = "Adding resources";
  if (!call.flag("context", true).ok()) return call.unprocessable("context is yes or no");
  auto document = call.document();
  if (!document.ok()) return call.unparsable(document.status());
  if (!document->tosca().empty())
    return call.failed(400, "additions in TOSCA are not supported: send the new machines in RADL");
  auto change = inf.add(*document, call.order());
  if (!change.ok()) return call.failed(change.status());
  if (const Status done = wait_for(change->launched); !done.ok()) {
    if (done.code() == Code::Timeout) return call.failed(504, done.text());
    auto undone = inf.undo(*change, call.order());  // a repeated request must not get these too
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
  const bool digits = numbers.find_first_not_of("0123456789,") == std::string::npos;
  if (!digits || numbers.starts_with(',') || numbers.ends_with(',') || numbers.find(",,") != numbers.npos)
    return call.failed(400, "Incorrect vm_list format.");
  std::optional<Document> more;
  if (!call.body.empty()) {
    auto document = call.document();
    if (!document.ok()) return call.unparsable(document.status());
    more = std::move(*document);
  }
  auto change = inf.reconfigure(more ? &*more : nullptr, call.order());
  if (!change.ok()) return call.failed(change.status());
  Answer answer = call.empty();
  answer.headers.emplace_back("InfID", inf.id());
  return answer;
}

Answer power(ImCall& call, Infrastructure& inf, PowerChange change) {
  call.doing = change == PowerChange::Stop ? "Stopping Inf." : "Starting Inf.";
  const Status done = wait_for(inf.change_power(inf.machines(), change, call.order(), true));
  return done.ok() ? call.empty() : call.failed(done.code() == Code::Timeout ? 504 : 400, done.text());
}

// The new owner is the user whose token the body has: a name alone proves nothing.
Answer authorize(ImCall& call, const ImParts& parts, Infrastructure& inf) {
  call.doing = "Changing Inf. auth";
  const auto alone = call.flag("overwrite", false);
  if (!alone.ok()) return call.unprocessable(alone.status().message());
  const Json body = json::parse_json(call.body);
  const auto text = [&](const char* name) {
    const auto found = body.is_object() ? body.find(name) : body.end();
    return body.is_object() && found != body.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
  };
  const std::string secret = text("token").empty() ? text("password") : text("token");
  auto owner = parts.access.caller_of(secret);
  if (secret.empty() || !owner.ok())
    return call.failed(400, "The body must have the token of a user of this service, as token or password.");
  if (Status added = inf.add_owner(owner->user, *alone); !added.ok()) return call.failed(added);
  return call.empty();
}

Answer destroy(ImCall& call, const ImParts& parts, const std::shared_ptr<Infrastructure>& inf) {
  call.doing = "Destroying Inf.";
  const auto force = call.flag("force", false), async = call.flag("async", false);
  if (!force.ok() || !async.ok()) return call.unprocessable("force and async are yes or no");
  if (!*force && !inf->may_be_destroyed().ok())
    return call.failed(409, "Invalid State to perform this operation.");
  const auto over = inf->destroy(call.order());
  if (*async) {
    parts.registry.remove_after(inf, over);
    return call.empty();
  }
  const Status done = wait_for(over);
  if (done.code() == Code::Timeout) return call.failed(504, done.text());
  // A destroy that was cut short may have left machines: their record stays, whatever was asked for.
  if (!done.ok() && (!*force || done.code() == Code::Cancelled)) return call.failed(400, done.text());
  if (const Status removed = parts.registry.remove(inf->id()); !removed.ok())
    return call.failed(400, removed.text());
  return call.empty();
}

}  // namespace

Status wait_for(const std::shared_future<Status>& future) {
  if (future.wait_for(kLongestRequest) != std::future_status::ready)
    return Status(Code::Timeout, "the run continues; query the state of the infrastructure");
  return future.get();
}

Answer with_infrastructure(ImCall& call, const ImParts& parts, const std::shared_ptr<Infrastructure>& inf) {
  const auto& path = call.path;
  const std::string& method = call.method;
  if (!inf->is_touched_by(call.caller)) return call.failed(403, "Access to this infrastructure not granted.");
  if (method != "GET" && !call.caller.may(Scope::Apply))
    return call.failed(403, "The token's scope does not include apply.");
  if (method != "GET" && !call.by.trusted && inf->is_here())
    return call.failed(
        403,
        "It has nodes on the computer of this service, which does not trust its users with them: "
        "an administrator can change it.");
  if (path.size() == 2) {
    if (method == "GET") return machine_uris(call, *inf, inf->machines());
    if (method == "POST") return add(call, *inf);
    if (method == "DELETE") return destroy(call, parts, inf);
    return call.not_allowed("DELETE, GET, HEAD, POST");
  }
  if (path[2] == "vms" && path.size() >= 4) return with_machine(call, *inf);
  if (path.size() != 3) return call.not_found();
  const bool is_operation = path[2] == "reconfigure" || path[2] == "start" || path[2] == "stop";
  if (method == "GET") return property(call, parts, inf, path[2]);
  if (method == "POST" && path[2] == "authorization") return authorize(call, parts, *inf);
  if (method != "PUT")
    return call.not_allowed(path[2] == "authorization" ? "GET, HEAD, POST"
                            : is_operation             ? "PUT"
                                                       : "GET, HEAD");
  if (path[2] == "reconfigure") return reconfigure(call, *inf);
  if (path[2] == "start") return power(call, *inf, PowerChange::Start);
  if (path[2] == "stop") return power(call, *inf, PowerChange::Stop);
  return call.unprocessable("the operation is start, stop or reconfigure");
}

}  // namespace radl::serve
