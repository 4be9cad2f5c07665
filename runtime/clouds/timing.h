// Settings shared by clouds, from the environment.
#pragma once

#include <string>

#include "common/environment.h"
#include "runtime/clouds/cloud.h"

namespace radl {

struct Timing {
  std::chrono::milliseconds settles_after{0};
  Pace pace;
};
// PREFIX_SETTLES_AFTER and PREFIX_PACE (seconds, 0 to 3600) override `usual`, for servers with faster
// consistency. Invalid names the variable.
Result<Timing> timing_from(const Lookup& environment, const std::string& prefix, Timing usual);

// RADL_CALLER_CIDR: the addresses for which SSH is opened; "" if not set. Invalid: not an address.
Result<std::string> caller_from(const Lookup& environment);

}  // namespace radl
