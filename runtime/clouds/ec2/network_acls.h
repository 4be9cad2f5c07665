// Network ACLs of the subnets that machines are in. radlc creates none and changes none: what they deny, and
// what they allow before that, is noted for each machine (rules_of_others.h). Internal to this folder.
#pragma once

#include <map>
#include <string>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// For those machines of `found` that `names` has (id -> address). An ACL that lets everything through, as a
// VPC's default one does, is not noted.
Status add_network_acls(Call& call, const std::map<std::string, std::string>& names,
                        std::map<std::string, Seen>& found);

}  // namespace radl::ec2
