// Runs a training over its nodes: brings engine and data, writes the job files, starts the processes so that
// they outlive us, follows them, and brings model, events and report back.
//
// A run that finds the same training under way (radlc was killed) joins it. Cancelling asks the processes for
// a checkpoint. The output: see docs/ir.md, "Training steps".
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_training_runner();

}  // namespace radl
