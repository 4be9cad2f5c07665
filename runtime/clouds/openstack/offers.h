// Flavors for a node, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/openstack/design.h"

namespace radl::openstack {

// With a user catalogue for this region: the cheapest three that fit, by name. Otherwise one offer
// without a price, whose flavor is chosen at creation: the smallest that fits, named if a survey
// knows it. A flavor named in the file is used as named. Invalid: no flavor fits; names the
// feature.
Result<std::vector<Offer>> offers_for(const Place& place, const ir::Node& node, const DesignInput& input);

// The region's name in the catalogue.
std::string catalog_region(const CloudId& cloud);

}  // namespace radl::openstack
