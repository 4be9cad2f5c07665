// Properties of machines that follow from a size's name ("Standard_D4as_v5"). Pure.
#pragma once

#include <string>

#include "runtime/clouds/disk_rules.h"

namespace radl::azure {

// Premium and Ultra disks require sizes with premium storage.
const DiskRules& disk_rules();

// True for arm64: a `p` among its letters (D4ps_v5).
bool is_arm(const std::string& size);
// True if its machines have only NVMe disks: from the sixth generation on; for L from the fourth, for FX from
// the second. They boot only images built for that.
bool needs_nvme(const std::string& size);

}  // namespace radl::azure
