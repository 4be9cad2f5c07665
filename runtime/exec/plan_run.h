// Executes the actions of a plan in the order of its graph. Internal to runtime/exec.
#pragma once

#include "runtime/exec/execution.h"

namespace radl {

// Adds the outcome of each action to the report, in the plan's order. Returns Ok, Cancelled, or the first
// failure.
Status execute_plan(Execution& execution, const Plan& plan, RunReport& report);

}  // namespace radl
