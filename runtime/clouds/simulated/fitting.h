// The simulated instance types and zones that fit a node. Pure; internal to this
// folder.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::simulated {

// From cheapest to most expensive. Invalid names the feature that no type has.
Result<std::vector<const InstanceType*>> fitting_machines(const ir::Node& node, const std::string& region);
// Invalid: `availability_zone` is not a zone.
Result<std::vector<std::string_view>> fitting_zones(const ir::Node& node);

}  // namespace radl::simulated
