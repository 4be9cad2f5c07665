// Regions, zones and subnets, as far as an offline plan needs them. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::azure {

// The region in availability_zone = 'REGION', 'REGION-1', 'REGION/1' or '1'; of several places, of the first.
// "" if none is named.
std::string region_named(const ir::Node& node);
std::string zone_named(const ir::Node& node);  // "1", of the first place
// Zones of all places, in order; none if one place is a whole region.
std::vector<std::string> zones_named(const ir::Node& node);

bool is_region_name(const std::string& text);  // "westeurope"

// The ID of an existing subnet: provider_id = 'GROUP/NETWORK/SUBNET', or its full ID. Invalid: neither.
Result<std::string> subnet_named(const ir::Network& network);
std::string network_of_subnet(const std::string& subnet);  // the id of its network

// An existing disk named by `disk.N.image.url`: the ID in azr://disk/RESOURCE-GROUP/NAME, RESOURCE-GROUP/NAME
// or azr:/// with a full ID; "" for another cloud's URL. Invalid: none of these.
Result<std::string> disk_in_url(const std::string& url);

}  // namespace radl::azure
