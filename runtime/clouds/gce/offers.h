// Machine types and zones for a node, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/gce/design.h"

namespace radl::gce {

// The cheapest three types that fit, each in the allowed zones: the zone named in the file, the configured
// one, else those of the region. `one_zone`: all in the first zone, because a disk is in one. Invalid: no
// type fits; names the feature.
Result<std::vector<Offer>> offers_for(const Place& place, const ir::Node& node, const DesignInput& input,
                                      bool one_zone);
// The zone of a node's disks.
std::string zone_of_disks(const Place& place, const ir::Node& node, const DesignInput& input);

}  // namespace radl::gce
