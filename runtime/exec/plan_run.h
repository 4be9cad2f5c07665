// The actions of a plan, executed in the order of its graph. Internal to runtime/exec.
#pragma once

#include "runtime/exec/execution.h"

namespace radl {

// What came of each action stands in the report, in the plan's order. Ok, Cancelled, or the first failure.
Status execute_plan(Execution& execution, const Plan& plan, RunReport& report);

}  // namespace radl
