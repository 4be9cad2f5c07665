// How the operations of Compute Engine stand (runtime/clouds/operations.h).
#pragma once

#include "runtime/clouds/operations.h"

namespace radl::gce {

struct Asking;

// Asks for those that `wanted` takes, in few calls.
Status poll_operations(Asking& call, const Operations::Wanted& wanted);

}  // namespace radl::gce
