// Regions, zones and subnets, as far as a plan without a network needs them. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::azure {

// Of availability_zone = 'REGION', 'REGION-1', 'REGION/1' or '1', of the first that it names; "" where it
// does not say.
std::string region_named(const ir::Node& node);
std::string zone_named(const ir::Node& node);  // "1", of the first place
// Of all places, in their order; none where one of them is a whole region.
std::vector<std::string> zones_named(const ir::Node& node);

bool is_region_name(const std::string& text);  // "westeurope"

// The id of an existing subnet: provider_id = 'GROUP/NETWORK/SUBNET', or its whole id. Invalid: it is none.
Result<std::string> subnet_named(const ir::Network& network);
std::string network_of_subnet(const std::string& subnet);  // the id of its network

// A disk that is there already, as `disk.N.image.url` names it: the id of azr://disk/RESOURCE-GROUP/NAME,
// RESOURCE-GROUP/NAME or azr:/// and a whole id; "" of another cloud's URL. Invalid: it is none of these.
Result<std::string> disk_in_url(const std::string& url);

}  // namespace radl::azure
