// Regions and zones, as far as an offline plan needs them. Pure.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::gce {

// The region of the first place in availability_zone = 'ZONE' or 'REGION', else of the image's URL
// (gce://REGION/..), else of the disks that it names; "" if none.
std::string region_named(const ir::Node& node);
// Its zones, in order; none if it names a region or nothing.
std::vector<std::string> zones_named(const ir::Node& node);

// "europe-west1"; "europe-west1-b".
bool is_region_name(const std::string& text);
bool is_zone_name(const std::string& text);

// An existing disk named by `disk.N.image.url`: "ZONE/NAME" for gce://ZONE/NAME and
// gce://REGION/zones/ZONE/disks/NAME; "NAME" without a zone; "" for another cloud's URL.
std::string disk_in_url(const std::string& url);
// The path of such a disk for a machine in `zone`: "zones/ZONE/disks/NAME".
std::string disk_path(const std::string& named, const std::string& zone);
// The zone of the first such disk that names one; "": none. A machine must be in the zone of its disks.
std::string zone_of_disks_there(const ir::Node& node);

// Zones for machines of a region, by preference: those of a survey, else those that Google documents
// ("Regions and zones": a, b and c with exceptions).
std::vector<std::string> zones_of(const std::string& region, const Survey& survey);

}  // namespace radl::gce
