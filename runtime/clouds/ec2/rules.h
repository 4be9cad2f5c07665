// Converts inbound rules (runtime/clouds/port_rules.h) to and from EC2's API.
#pragma once

#include <pugixml.hpp>
#include <vector>

#include "runtime/clouds/ec2/api.h"
#include "runtime/clouds/port_rules.h"

namespace radl::ec2 {

// IpPermissions.N.* of a request.
void add_rules(Parameters& parameters, const std::vector<InboundRule>& rules);
// The rules of an <ipPermissions> element, one per source.
std::vector<InboundRule> rules_in(pugi::xml_node permissions);

}  // namespace radl::ec2
