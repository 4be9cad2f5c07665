// The training loop: owns batches, optimizer and learning rates, for any distribution strategy.
#pragma once

#include "engine/train/progress.h"
#include "engine/train/run.h"

namespace radl::engine {

// The task of every process that computes gradients: alone, as a worker of servers, or as a member of a ring,
// whose first member is the chief.
Result<RunSummary> run_training(const Job& job, const RunHooks& hooks, Progress& progress);
Result<RunSummary> run_server(const Job& job, const RunHooks& hooks,
                              Progress& progress);  // ps, and the chief in ps/0
Result<RunSummary> run_chief(const Job& job, const RunHooks& hooks,
                             Progress& progress);  // of servers: a separate task

}  // namespace radl::engine
