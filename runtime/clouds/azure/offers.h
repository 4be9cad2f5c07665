// The machine types that a node may become, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::azure {

// The cheapest three types that fit and that the subscription may have (a survey says so). Invalid: no type
// fits; names the feature.
Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input);

// The zones that the file names for a node, by preference: the first where it has further disks, which are
// made before it is known in which there is room.
std::vector<std::string> zones_for(const ir::Node& node);

}  // namespace radl::azure
