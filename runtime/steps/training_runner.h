// Runs a training on its nodes: copies engine and data, writes the job files, starts processes that outlive
// radlc, follows them, and fetches model, events and report.
//
// A run that finds the same training running (radlc was killed) joins it. Cancelling requests a checkpoint
// from the processes. The output: see docs/ir.md, "Training steps".
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_training_runner();

}  // namespace radl
