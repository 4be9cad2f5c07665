// Which of the simulated cloud's instance types and zones have what a node asks for. Pure; internal to this
// folder.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::simulated {

// From the cheapest to the dearest. Invalid names the feature that no type has.
Result<std::vector<const InstanceType*>> fitting_machines(const ir::Node& node, const std::string& region);
// Invalid: `availability_zone` names none.
Result<std::vector<std::string_view>> fitting_zones(const ir::Node& node);

}  // namespace radl::simulated
