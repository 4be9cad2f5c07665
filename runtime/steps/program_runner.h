// Runs a program on its nodes: brings its files and Python packages, starts a member on each node so that it
// outlives us, follows what they write, restarts what was lost, and brings results, logs and numbers back.
//
// A run that finds the same program under way (radlc was killed) joins it. The output: see docs/ir.md,
// "Program steps".
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_program_runner();

}  // namespace radl
