// Which resources of the simulated cloud a program needs, and what a change of one means. Pure.
#pragma once

#include "runtime/clouds/cloud.h"

namespace radl::simulated {

// Ok when an instance type fits; Invalid names the feature that none has.
Status check_node(const CloudId& cloud, const ir::Node& node);
// `boot`: seconds that a machine takes on average.
Result<Design> design_resources(const CloudId& cloud, double boot, const DesignInput& input);
Impact impact_of(const std::string& type, const Json& before, const Json& after);

}  // namespace radl::simulated
