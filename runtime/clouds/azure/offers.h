// The machine types that a node may become, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::azure {

// The cheapest three types that fit and that the subscription may have (a survey says so). Invalid: no type
// fits; names the feature.
Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input);

}  // namespace radl::azure
