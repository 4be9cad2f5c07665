// Notes about access: host keys trusted on first use, and SSH open to many addresses.
#include <algorithm>
#include <charconv>

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

// The widest ranges that one organisation usually has (docs/clouds.md).
constexpr int kWidestV4 = 16, kWidestV6 = 32;

// Whether RADL_CALLER_CIDR means far more than one computer and the network that it is in.
bool is_wide(const std::string& cidr) {
  const size_t slash = cidr.find('/');
  if (slash == cidr.npos) return false;
  int length = -1;
  const char* end = cidr.data() + cidr.size();
  const auto [read, error] = std::from_chars(cidr.data() + slash + 1, end, length);
  if (error != std::errc() || read != end) return false;  // the clouds refuse it
  return length < (cidr.find(':') == cidr.npos ? kWidestV4 : kWidestV6);
}

bool opens_ssh_widely(const Draft& draft) {
  if (!is_wide(draft.input.options.caller)) return false;
  const auto& resources = draft.desired.resources;
  return std::any_of(resources.begin(), resources.end(), [](const Desired& desired) {
    return desired.wanted.spec.dump().find(kSshFromThisComputer) != std::string::npos;
  });
}

}  // namespace

void plan_trust(Draft& draft) {
  if (opens_ssh_widely(draft)) {
    const std::string& caller = draft.input.options.caller;
    draft.plan.notes.push_back("warning: RADL_CALLER_CIDR=" + caller + " opens SSH on the nodes to " +
                               (caller.ends_with("/0") ? "every address" : "all addresses of that range") +
                               "; name the address of this computer");
  }
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
        "SSH trusts the host keys on first use, and verifies them once the cloud reports them: " +
        names_together(first_uses));
  if (!unconfirmed.empty())
    draft.plan.notes.push_back(
        "SSH trusted these host keys on first use, and the cloud has not reported them yet: " +
        names_together(unconfirmed));
}

}  // namespace radl
