// Whether work for a user may use credentials that belong to the computer and not to the user: a
// virtual machine's cloud identity, machine-wide files, and files in the folder that the process runs
// in.
//
// A service disables this for all users but its own. AWS has its own variable for the same purpose:
// AWS_EC2_METADATA_DISABLED.
#pragma once

#include "common/environment.h"

namespace radl {

inline constexpr const char* kMachineIdentity = "RADL_MACHINE_IDENTITY";  // "off" forbids it

inline bool machine_identity_is_open(const Lookup& environment) {
  return environment(kMachineIdentity) != "off";
}

}  // namespace radl
