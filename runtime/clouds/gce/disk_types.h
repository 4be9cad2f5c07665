// Which types of disks machines take. Pure.
#pragma once

#include <string>

#include "runtime/clouds/disk_rules.h"

namespace radl::gce {

const DiskRules& disk_rules();
// Of a disk whose type nobody says: "": Compute Engine's own choice, pd-standard, where machines of the type
// take that.
std::string usual_disk(const std::string& machine_type);

}  // namespace radl::gce
