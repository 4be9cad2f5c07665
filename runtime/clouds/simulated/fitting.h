// Which instance types and zones have what a node asks for. Pure; internal to this folder.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/simulated/prices.h"

namespace radl::simulated {

// From the cheapest to the dearest. Invalid names the feature that no type has.
Result<std::vector<const Machine*>> fitting_machines(const ir::Node& node, const std::string& region);
// Invalid: `availability_zone` names none.
Result<std::vector<std::string_view>> fitting_zones(const ir::Node& node);
bool wants_spot(const ir::Node& node);
// The text that a feature must be equal to, or the first of a list; "" where there is none.
std::string text_wanted(const ir::Node& node, const std::string& feature);

}  // namespace radl::simulated
