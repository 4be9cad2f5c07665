// The machine types and zones that a node may become, by preference. Pure.
#pragma once

#include <vector>

#include "runtime/clouds/gce/design.h"

namespace radl::gce {

// The cheapest three types that fit, each in the zones that the node may be in: the zone named in the file,
// the configured one, else those of the region. `one_zone`: all of them in the first (a disk is in one).
// Invalid: no type fits; names the feature.
Result<std::vector<Offer>> offers_for(const Place& place, const ir::Node& node, const DesignInput& input,
                                      bool one_zone);
// The zone in which a node's disks are.
std::string zone_of_disks(const Place& place, const ir::Node& node, const DesignInput& input);

}  // namespace radl::gce
