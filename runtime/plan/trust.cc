// Notes of what lets others in: host keys that are trusted on first use, SSH that is open to everybody.
#include <algorithm>

#include "runtime/clouds/port_rules.h"
#include "runtime/plan/build.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

bool is_connected_to(const ir::Program& program, const Desired& desired) {
  return desired.node && desired.node->configured && program.contextualize;
}

// As a refresh has just seen it, else as recorded.
bool was_trusted(const PlanInput& input, const std::string& address) {
  const auto record = input.snapshot.resources.find(address);
  if (record == input.snapshot.resources.end()) return false;
  if (input.observed) {
    const auto seen = input.observed->attributes.find(address);
    if (seen != input.observed->attributes.end()) return is_trusted_on_first_use(seen->second);
  }
  return is_trusted_on_first_use(record->second.attributes);
}

// SSH is opened for everybody by RADL_CALLER_CIDR.
bool opens_ssh_to_all(const Draft& draft) {
  if (!draft.input.options.caller.ends_with("/0")) return false;
  const auto& resources = draft.desired.resources;
  return std::any_of(resources.begin(), resources.end(), [](const Desired& desired) {
    return desired.wanted.spec.dump().find(kSshFromThisComputer) != std::string::npos;
  });
}

}  // namespace

void plan_trust(Draft& draft) {
  if (opens_ssh_to_all(draft))
    draft.plan.notes.push_back("warning: RADL_CALLER_CIDR=" + draft.input.options.caller +
                               " opens SSH of the machines to every address; name that of this computer");
  std::vector<std::string> first_uses, unconfirmed;
  for (const Desired& desired : draft.desired.resources) {
    const std::string& address = desired.wanted.address;
    const Cloud* cloud = draft.input.clouds.find(desired.cloud);
    if (!cloud || !cloud->trusts_on_first_use() || !is_connected_to(draft.input.program, desired)) continue;
    if (draft.is_made_anew(address))
      first_uses.push_back(address);
    else if (was_trusted(draft.input, address))
      unconfirmed.push_back(address);
  }
  if (!first_uses.empty())
    draft.plan.notes.push_back(
        "host keys trusted on first use, and compared as soon as the cloud tells them: " +
        names_together(first_uses));
  if (!unconfirmed.empty())
    draft.plan.notes.push_back("host keys trusted on first use, which the cloud has not told yet: " +
                               names_together(unconfirmed));
}

}  // namespace radl
