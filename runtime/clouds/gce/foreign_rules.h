// Firewall rules of others in a network, which allow inbound or deny outbound traffic in addition to radlc's.
// In a network that radlc created they are drift, and an update of the network disables them. In any other
// network (the project's default, one named in the file, an imported one) they are noted and kept. So are
// rules of firewall policies in every network, which belong to an organization, folder or project. Internal
// to this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/clouds/gce/kind.h"

namespace radl::gce {

// Field in the spec of a network that radlc created, present only if there are such rules: their texts.
inline constexpr const char* kForeignRules = "rules_of_others";

// An enabled rule: "block-all denies all to 0.0.0.0/0".
struct ForeignRule {
  std::string id, network, text;            // "global/firewalls/N", "projects/P/global/networks/N"
  std::vector<std::string> tags, accounts;  // target machines; neither tags nor accounts: all
  bool applies_to(const Exposed& machine) const;
};
// For all networks of a project. Excludes radlc's own and those in the state (Memory::name_of()).
Result<std::vector<ForeignRule>> foreign_rules(Asking& call, const std::string& project);
// Adds kForeignRules to each affected network of `found`, and notes the others for each machine
// (rules_of_others.h).
Status add_foreign_rules(Asking& call, std::map<std::string, Seen>& found);
// Notes for each machine the firewall policy rules that apply to it: hierarchical ones, and
// those of its network, global and regional. Ignores rules that only delegate to the next
// policy.
Status add_policy_rules(Asking& call, std::map<std::string, Seen>& found);

}  // namespace radl::gce
