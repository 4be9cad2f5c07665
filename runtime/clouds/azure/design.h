// Maps nodes to the resources that Azure must create. Pure.
#pragma once

#include "runtime/clouds/cloud.h"

namespace radl::azure {

Status check_node(const CloudId& cloud, const ir::Node& node, const DesignInput& input);
Result<Design> design_resources(const CloudId& cloud, const DesignInput& input);

}  // namespace radl::azure
