// Explains a failed run of the service to the user who requested it.
#pragma once

#include "common/status.h"
#include "runtime/exec/executor.h"

namespace radl::serve {

// Ok if the run succeeded. Otherwise its code and a line per failed action, without actions skipped because
// of one. If none failed (the run was cancelled): the run's own status.
Status failure_of(const RunReport& report);

}  // namespace radl::serve
