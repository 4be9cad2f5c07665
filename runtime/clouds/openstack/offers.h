// The flavors that a node may become, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/openstack/design.h"

namespace radl::openstack {

// With a catalogue of the user's for this region: the cheapest three that fit, each by its name. Else one
// offer, without a price, whose flavor is chosen as the machine is made: the smallest that fits, which a
// survey knows by name. A flavor that the file names is taken as it is named. Invalid: no flavor fits; names
// the feature.
Result<std::vector<Offer>> offers_for(const Place& place, const ir::Node& node, const DesignInput& input);

// The name under which a region is in the catalogue.
std::string catalog_region(const CloudId& cloud);

}  // namespace radl::openstack
