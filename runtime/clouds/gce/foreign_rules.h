// Firewall rules that others add to a network: they let traffic in, or keep it from going out, beside radlc's
// own. In a network that radlc created they are drift, which an update of the network disables. In any other
// network (the project's default one, one that the file names, an imported one) they are noted and stay.
// So are rules of firewall policies in every network: they belong to an organization, a folder or the
// project. Internal to this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/clouds/gce/kind.h"

namespace radl::gce {

// Field of the spec of a network that radlc created, shown only if there are such rules: their texts.
inline constexpr const char* kForeignRules = "rules_of_others";

// One that is switched on: "block-all denies all to 0.0.0.0/0".
struct ForeignRule {
  std::string id, network, text;            // "global/firewalls/N", "projects/P/global/networks/N"
  std::vector<std::string> tags, accounts;  // of the machines that it is for; none of either: all
  bool applies_to(const Exposed& machine) const;
};
// Of all networks of a project. What radlc created, or the state has (Memory::name_of()), is none.
Result<std::vector<ForeignRule>> foreign_rules(Asking& call, const std::string& project);
// Adds kForeignRules to each network of `found` that has some, and notes the others for each machine
// (rules_of_others.h).
Status add_foreign_rules(Asking& call, std::map<std::string, Seen>& found);
// Notes for each machine the rules of firewall policies that apply to it: hierarchical ones, and those of its
// network, global and regional. Rules that only pass a connection on to the next policy decide nothing, and
// are none.
Status add_policy_rules(Asking& call, std::map<std::string, Seen>& found);

}  // namespace radl::gce
