// Firewall rules that somebody else adds to a network of radlc's: they let traffic in, or keep it from going
// out, beside radlc's own. Internal to this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/clouds/gce/kind.h"

namespace radl::gce {

// Field of the spec of a network that radlc created, shown only if there are such rules: their texts. Of an
// imported network it is an attribute, so that a plan notes the rules and repairs nothing.
inline constexpr const char* kForeignRules = "rules_of_others";

// One that is switched on: "block-all denies all to 0.0.0.0/0".
struct ForeignRule {
  std::string id, network, text;  // ids: "global/firewalls/N", "global/networks/N"
};
// Of all networks of the project. What radlc created, or the state has (Memory::name_of()), is none.
Result<std::vector<ForeignRule>> foreign_rules(Asking& call);
// Adds kForeignRules to each network of `found` that has some.
Status add_foreign_rules(Asking& call, std::map<std::string, Seen>& found);

}  // namespace radl::gce
