// Whether work for a user may take credentials that belong to the computer it runs on and not to the user:
// the identity that a cloud gives a virtual machine, and files of the whole computer or of the folder that
// the process runs in.
//
// A service closes this for all users but its own. AWS has a variable of its own for the same:
// AWS_EC2_METADATA_DISABLED.
#pragma once

#include "common/environment.h"

namespace radl {

inline constexpr const char* kMachineIdentity = "RADL_MACHINE_IDENTITY";  // "off"; else it may be used

inline bool machine_identity_is_open(const Lookup& environment) {
  return environment(kMachineIdentity) != "off";
}

}  // namespace radl
