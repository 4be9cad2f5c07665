// The simulated resources of a program, and the impact of changes. Pure.
#pragma once

#include "runtime/clouds/cloud.h"

namespace radl::simulated {

// Invalid names the feature that no instance type has.
Status check_node(const CloudId& cloud, const ir::Node& node);
// `boot`: average boot time in seconds.
Result<Design> design_resources(const CloudId& cloud, double boot, const DesignInput& input);
Impact impact_of(const std::string& type, const Json& before, const Json& after);

}  // namespace radl::simulated
