// Polls operations of Compute Engine (runtime/clouds/operations.h).
#pragma once

#include "runtime/clouds/operations.h"

namespace radl::gce {

struct Asking;

// Polls the operations selected by `wanted`, in few calls.
Status poll_operations(Asking& call, const Operations::Wanted& wanted);

}  // namespace radl::gce
