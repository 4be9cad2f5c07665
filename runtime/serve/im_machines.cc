#include "runtime/serve/im_machines.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/text.h"
#include "runtime/serve/im_infrastructure.h"
#include "runtime/serve/machine_radl.h"

namespace radl::serve {
namespace {

using httpd::Answer;

// nullopt: no existing machine has this number.
std::optional<Machine> machine_of(const Infrastructure& inf, std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  const auto machines = inf.machines();
  const auto found = std::ranges::find(machines, number, &Machine::number);
  return found == machines.end() ? std::nullopt : std::optional(*found);
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The private key is for those who may change the machine. That of a node on the service's computer opens a
// shell as the service's user.
bool may_log_in(const ImCall& call, const Infrastructure& inf) {
  return call.caller.may(Scope::Apply) && (call.by.trusted || !inf.is_here());
}

Answer info(ImCall& call, const Infrastructure& inf, const Machine& machine) {
  auto radl = inf.describe(machine, may_log_in(call, inf));
  if (!radl.ok()) return call.failed(radl.status());
  auto text = radl_text(*radl);
  if (!text.ok()) return call.failed(text.status());
  return call.answer("text/plain", *text, {{"radl", *radl}});
}

Answer property(ImCall& call, const Infrastructure& inf, const Machine& machine, const std::string& name) {
  call.doing = "Getting VM property";
  if (name == "contmsg") {
    const std::string log = inf.log_of(machine);
    return call.answer("text/plain", log, {{name, log}});
  }
  auto radl = inf.describe(machine, may_log_in(call, inf));
  if (!radl.ok()) return call.failed(radl.status());
  for (const Json& part : *radl) {
    const auto value = part.find(name);
    if (part.value("class", "") != "system" || value == part.end()) continue;
    return call.answer("text/plain", value_text(*value), {{name, *value}});
  }
  return call.failed(404, "No value for property " + name);
}

Answer remove(ImCall& call, Infrastructure& inf) {
  call.doing = "Removing resources";
  if (!call.flag("context", true).ok()) return call.unprocessable("context is yes or no");
  std::vector<int> numbers;
  for (const std::string_view one : split(call.path[3], ',')) {
    const auto machine = machine_of(inf, one);
    if (!machine) return call.failed(404, "Invalid VM ID");
    if (std::ranges::find(numbers, machine->number) == numbers.end()) numbers.push_back(machine->number);
  }
  auto change = inf.remove(numbers, call.order());
  if (!change.ok()) return call.failed(change.status());
  if (const Status done = wait_for(change->over); !done.ok()) {
    // Recipes of the others may fail once these are gone: the state of the infrastructure says so.
    const auto is_here = [&](int number) { return machine_of(inf, std::to_string(number)).has_value(); };
    if (done.code() == Code::Timeout || std::ranges::any_of(numbers, is_here))
      return call.failed(done.code() == Code::Timeout ? 504 : 400, done.text());
  }
  return call.empty();
}

Answer alter(ImCall& call, Infrastructure& inf, const Machine& machine) {
  call.doing = "Altering VM";
  auto document = call.document();
  if (!document.ok()) return call.unparsable(document.status());
  auto change = inf.alter(machine, *document, call.order());
  if (!change.ok()) return call.failed(400, change.status().text());
  if (const Status done = wait_for(change->over); !done.ok()) {
    if (done.code() == Code::Timeout) return call.failed(504, done.text());
    auto undone = inf.undo(*change, call.order());
    if (undone.ok()) (void)wait_for(undone->over);
    return call.failed(400, done.text());
  }
  return info(call, inf, machine);
}

Answer power(ImCall& call, Infrastructure& inf, const Machine& machine, const std::string& operation) {
  const auto change = operation == "stop"    ? PowerChange::Stop
                      : operation == "start" ? PowerChange::Start
                                             : PowerChange::Reboot;
  call.doing = operation == "stop" ? "Stopping VM" : operation == "start" ? "Starting VM" : "Rebooting VM";
  const Status done = wait_for(inf.change_power({machine}, change, call.order()));
  return done.ok() ? call.empty() : call.failed(done.code() == Code::Timeout ? 504 : 400, done.text());
}

// The reference numbers disks; only the root disk makes an image that a machine starts from.
Answer snapshot(ImCall& call, Infrastructure& inf, const Machine& machine) {
  call.doing = "Creating snapshot";
  const std::string name = call.parameter("image_name");
  const auto removed_later = call.flag("auto_delete", false);
  if (name.empty()) return call.failed(400, "image_name is required");
  if (!removed_later.ok()) return call.unprocessable(removed_later.status().message());
  if (*removed_later) return call.failed(400, "auto_delete is not supported: delete the image yourself");
  if (call.path[5] != "0") return call.failed(400, "only disk 0 can be an image");
  auto address = std::make_shared<std::string>();
  const Status done = wait_for(inf.make_image(machine, name, call.order(), address));
  return done.ok() ? call.answer("text/plain", *address, {{"snapshot", *address}})
                   : call.failed(400, done.text());
}

}  // namespace

Answer machine_uris(const ImCall& call, const Infrastructure& inf, const std::vector<Machine>& machines) {
  std::vector<std::string> uris;
  for (const Machine& machine : machines)
    uris.push_back(call.uri("/infrastructures/" + inf.id() + "/vms/" + std::to_string(machine.number)));
  return call.uris(uris);
}

Answer with_machine(ImCall& call, Infrastructure& inf) {
  const std::string& method = call.method;
  call.doing = "Getting VM info";
  if (call.path.size() == 4 && method == "DELETE") return remove(call, inf);
  const auto machine = machine_of(inf, call.path[3]);
  if (!machine) return call.failed(404, "Invalid VM ID");
  if (call.path.size() == 4 && method == "GET") return info(call, inf, *machine);
  if (call.path.size() == 5 && method == "GET") return property(call, inf, *machine, call.path[4]);
  if (method == "PUT" && call.path.size() == 4) return alter(call, inf, *machine);
  if (method == "PUT" && call.path.size() == 5) {
    const std::string& operation = call.path[4];
    if (operation == "start" || operation == "stop" || operation == "reboot")
      return power(call, inf, *machine, operation);
    return call.unprocessable("the operation is start, stop or reboot");
  }
  const bool of_disk = call.path.size() == 7 && call.path[4] == "disks" && call.path[6] == "snapshot";
  if (method == "PUT" && of_disk) return snapshot(call, inf, *machine);
  if (of_disk) return call.not_allowed("PUT");
  if (call.path.size() == 4) return call.not_allowed("DELETE, GET, HEAD, PUT");
  if (call.path.size() != 5) return call.not_found();
  return call.not_allowed("GET, HEAD, PUT");
}

}  // namespace radl::serve
