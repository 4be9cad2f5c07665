// Why a run of the service failed, for the user who asked for it.
#pragma once

#include "common/status.h"
#include "runtime/exec/executor.h"

namespace radl::serve {

// Ok if the run succeeded. Else its code, and a line for each action that failed; actions that were skipped
// because of one have no line. If none failed (the run was cancelled): the run's own status.
Status failure_of(const RunReport& report);

}  // namespace radl::serve
