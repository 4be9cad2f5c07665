// What the name of a size ("Standard_D4as_v5") says of its machines. Pure.
#pragma once

#include <string>

#include "runtime/clouds/disk_rules.h"

namespace radl::azure {

// Premium and Ultra disks are for sizes with premium storage alone.
const DiskRules& disk_rules();

// Whether its machines are arm64: a `p` among its letters (D4ps_v5).
bool is_arm(const std::string& size);
// Whether its machines have NVMe disks alone: of the sixth make on, of L from the fourth and of FX from the
// second. They start only from images that are made for that.
bool needs_nvme(const std::string& size);

}  // namespace radl::azure
