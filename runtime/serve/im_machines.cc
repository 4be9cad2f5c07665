#include "runtime/serve/im_machines.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/text.h"

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

Answer info(ImCall& call, const Infrastructure& inf, const Machine& machine) {
  auto radl = inf.describe(machine);
  if (!radl.ok()) return call.failed(radl.status());
  return call.answer("text/plain", radl->dump(2), {{"radl", *radl}});
}

Answer property(ImCall& call, const Infrastructure& inf, const Machine& machine, const std::string& name) {
  call.doing = "Getting VM property";
  if (name == "contmsg") {
    const std::string log = inf.log_of(machine);
    return call.answer("text/plain", log, {{name, log}});
  }
  auto radl = inf.describe(machine);
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
  std::vector<int> numbers;
  for (const std::string_view one : split(call.path[3], ',')) {
    const auto machine = machine_of(inf, one);
    if (!machine) return call.failed(404, "Invalid VM ID");
    if (std::ranges::find(numbers, machine->number) == numbers.end()) numbers.push_back(machine->number);
  }
  auto change = inf.remove(numbers, call.accounts);
  if (!change.ok()) return call.failed(change.status());
  if (const Status done = change->over.get(); !done.ok()) return call.failed(400, done.text());
  return call.empty();
}

}  // namespace

Answer machine_uris(const ImCall& call, const Infrastructure& inf, const std::vector<Machine>& machines) {
  std::vector<std::string> uris;
  for (const Machine& machine : machines)
    uris.push_back(call.uri("/infrastructures/" + inf.id() + "/vms/" + std::to_string(machine.number)));
  return call.uris(uris);
}

Answer with_machine(ImCall& call, Infrastructure& inf) {
  const std::string& method = call.head.method;
  call.doing = "Getting VM info";
  if (call.path.size() == 4 && method == "DELETE") return remove(call, inf);
  const auto machine = machine_of(inf, call.path[3]);
  if (!machine) return call.failed(404, "Invalid VM ID");
  if (call.path.size() == 4 && method == "GET") return info(call, inf, *machine);
  if (call.path.size() == 5 && method == "GET") return property(call, inf, *machine, call.path[4]);
  if (method == "PUT")
    return call.failed(400, "This service does not change or stop single machines: see docs/service.md");
  return call.not_allowed();
}

}  // namespace radl::serve
