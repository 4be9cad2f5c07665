// Runs a program on its nodes: copies its files and Python packages, starts a member on each node that
// outlives radlc, follows their output, restarts lost members, and fetches results, logs and metrics.
//
// A run that finds the same program running (radlc was killed) joins it. The output: see docs/ir.md, "Program
// steps".
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_program_runner();

}  // namespace radl
