#include "runtime/exec/login_keys.h"

#include <algorithm>
#include <set>

#include "runtime/net/ssh/key_places.h"

namespace radl {

namespace {

// Addresses of what is recorded and whose key is needed: machines that steps run on, key pairs of new ones.
std::set<std::string> needed_by(const Plan& plan) {
  std::set<std::string> needed, made;
  for (const Action& action : plan.actions) {
    const bool makes = !action.is_step && (action.verb == Verb::Create || action.verb == Verb::Replace);
    if (makes) made.insert(action.id);
    if (action.is_step && action.verb == Verb::Run) needed.insert(action.nodes.begin(), action.nodes.end());
    if (makes && !action.nodes.empty()) needed.insert(action.uses.begin(), action.uses.end());
  }
  // A replaced machine gets an existing key.
  for (const std::string& address : made) needed.erase(address);
  return needed;
}

// Machines that stay while their key pair is created again: the public half must be that of the key which
// they know.
std::set<std::string> keeping_their_key(const Execution& execution, const Plan& plan) {
  std::set<std::string> keys, staying;
  for (const Action& action : plan.actions)
    if (action.verb == Verb::Create && (action.type == "key_pair" || action.type == "key"))
      keys.insert(action.id);
  if (keys.empty()) return staying;
  execution.read([&](const Snapshot& known) {
    for (const auto& [address, record] : known.resources) {
      if (!record.is_node()) continue;
      const Action* action = plan.find(address);
      if (action && action->verb != Verb::Update) continue;
      if (std::any_of(record.needs.begin(), record.needs.end(),
                      [&](const std::string& need) { return keys.count(need) != 0; }))
        staying.insert(address);
    }
  });
  return staying;
}

}  // namespace

Status check_login_keys(const Execution& execution, const Plan& plan) {
  std::set<std::string> looked_for;  // many machines have one key
  std::set<std::string> needed = needed_by(plan);
  needed.merge(keeping_their_key(execution, plan));
  for (const std::string& address : needed) {
    const auto record = execution.resource(address);
    if (!record || !record->attributes.is_object()) continue;
    const auto print = record->attributes.find("key");
    if (print == record->attributes.end() || !print->is_string()) continue;
    if (!looked_for.insert(print->get<std::string>()).second) continue;
    auto found = ssh::find_key(
        *print, ssh::key_places(execution.world().environment, execution.store().work_directory()));
    if (!found.ok())
      return Status(Code::Auth, address + ": " + found.status().message() + "; nothing was made or changed")
          .with_hint(found.status().hint());
  }
  return {};
}

}  // namespace radl
