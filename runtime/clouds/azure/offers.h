// Machine types for a node, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::azure {

// The cheapest three types that fit and that the subscription may use (according to a survey). Invalid: no
// type fits; names the feature.
Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input);

// The zones named in the file for a node, by preference. Only the first if the node has further disks, which
// are created before it is known which zone has capacity.
std::vector<std::string> zones_for(const ir::Node& node);

}  // namespace radl::azure
