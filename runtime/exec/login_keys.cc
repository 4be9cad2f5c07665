#include "runtime/exec/login_keys.h"

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
  // What is made anew gets a key that is there.
  for (const std::string& address : made) needed.erase(address);
  return needed;
}

}  // namespace

Status check_login_keys(const Session& session, const Plan& plan) {
  std::set<std::string> looked_for;  // many machines have one key
  for (const std::string& address : needed_by(plan)) {
    const auto record = session.resource(address);
    if (!record || !record->attributes.is_object()) continue;
    const auto print = record->attributes.find("key");
    if (print == record->attributes.end() || !print->is_string()) continue;
    if (!looked_for.insert(print->get<std::string>()).second) continue;
    auto found = ssh::find_key(*print, ssh::key_places(session.store().work_directory()));
    if (!found.ok())
      return Status(Code::Auth, address + ": " + found.status().message() + "; nothing was made or changed")
          .with_hint(found.status().hint());
  }
  return {};
}

}  // namespace radl
