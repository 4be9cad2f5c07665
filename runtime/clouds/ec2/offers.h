// The instance types that a node may become, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

// The cheapest that fit, at most three: the dearer ones would be surprises. As spot where the node asks for
// it, and with `spot.fallback = 'yes'` on demand behind that; by the survey's spot prices where there is one.
// Invalid names the feature that no type has.
Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input);

}  // namespace radl::ec2
