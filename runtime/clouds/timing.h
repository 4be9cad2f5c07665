// Settings that clouds share, from the environment.
#pragma once

#include <string>

#include "common/environment.h"
#include "runtime/clouds/cloud.h"

namespace radl {

struct Timing {
  std::chrono::milliseconds settles_after{0};
  Pace pace;
};
// PREFIX_SETTLES_AFTER and PREFIX_PACE (seconds, 0 to 3600) over `usual`, for servers that are quicker to
// show what was made. Invalid names the variable.
Result<Timing> timing_from(const Lookup& environment, const std::string& prefix, Timing usual);

// RADL_CALLER_CIDR: what SSH is opened for; "" when it is not set. Invalid: it is no address.
Result<std::string> caller_from(const Lookup& environment);

}  // namespace radl
