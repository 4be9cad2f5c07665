// Regions and zones, as far as a plan without a network needs them. Pure.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::gce {

// The region of the first place in availability_zone = 'ZONE' or 'REGION', else that of the image's URL
// (gce://REGION/..), else that of the disks that it names; "" where nothing says one.
std::string region_named(const ir::Node& node);
// Its zones, in their order; none where it names a region, or nothing.
std::vector<std::string> zones_named(const ir::Node& node);

// "europe-west1"; "europe-west1-b".
bool is_region_name(const std::string& text);
bool is_zone_name(const std::string& text);

// A disk that is there already, as `disk.N.image.url` names it: "ZONE/NAME" of gce://ZONE/NAME and
// gce://REGION/zones/ZONE/disks/NAME; "NAME" where no zone is said; "" of another cloud's URL.
std::string disk_in_url(const std::string& url);
// The path of a disk that is so named, for a machine in `zone`: "zones/ZONE/disks/NAME".
std::string disk_path(const std::string& named, const std::string& zone);
// The zone of the first such disk that says it; "": none does. A machine is where its disks are.
std::string zone_of_disks_there(const ir::Node& node);

// Where machines of a region may be, by preference: those of a survey, else the zones that Google documents
// ("Regions and zones": a, b and c but where a region says otherwise).
std::vector<std::string> zones_of(const std::string& region, const Survey& survey);

}  // namespace radl::gce
