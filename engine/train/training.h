// The training loop: owns batches, optimizer and learning rates, whatever strategy distributes the work.
#pragma once

#include "engine/train/progress.h"
#include "engine/train/run.h"

namespace radl::engine {

// The task of every process that computes gradients: alone, a worker of servers, or a member of a ring, whose
// first is the chief.
Result<RunSummary> run_training(const Job& job, const RunHooks& hooks, Progress& progress);
Result<RunSummary> run_server(const Job& job, const RunHooks& hooks,
                              Progress& progress);  // ps, and the chief in ps/0
Result<RunSummary> run_chief(const Job& job, const RunHooks& hooks,
                             Progress& progress);  // of servers, a task of its own

}  // namespace radl::engine
