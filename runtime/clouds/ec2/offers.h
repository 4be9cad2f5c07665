// Instance types for a node, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

// The cheapest types that fit, at most three, so that a fallback does not cost much more. Spot if the node
// requests it, followed by on demand with `spot.fallback = 'yes'`; ordered by the survey's spot prices, if
// any. Invalid names the feature that no type has.
Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input);

}  // namespace radl::ec2
