// Inbound rules (runtime/clouds/port_rules.h) as EC2's API has them.
#pragma once

#include <pugixml.hpp>
#include <vector>

#include "runtime/clouds/ec2/api.h"
#include "runtime/clouds/port_rules.h"

namespace radl::ec2 {

// IpPermissions.N.* of a request.
void add_rules(Parameters& parameters, const std::vector<InboundRule>& rules);
// The rules of an <ipPermissions> element, one for each source.
std::vector<InboundRule> rules_in(pugi::xml_node permissions);

}  // namespace radl::ec2
