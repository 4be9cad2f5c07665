// The disk types that machines support. Pure.
#pragma once

#include <string>

#include "runtime/clouds/disk_rules.h"

namespace radl::gce {

const DiskRules& disk_rules();
// Default type of a disk. "": Compute Engine's own default, pd-standard, if the machine type supports
// it.
std::string usual_disk(const std::string& machine_type);

}  // namespace radl::gce
