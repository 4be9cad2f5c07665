// Network ACLs of the machines' subnets. radlc neither creates nor changes them, but notes for each machine
// what they deny, and what they allow before that (rules_of_others.h). Internal to this folder.
#pragma once

#include <map>
#include <string>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// For the machines of `found` listed in `names` (ID -> address). ACLs that allow everything, such as a VPC's
// default, are not noted.
Status add_network_acls(Call& call, const std::map<std::string, std::string>& names,
                        std::map<std::string, Seen>& found);

}  // namespace radl::ec2
