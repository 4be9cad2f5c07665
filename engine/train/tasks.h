// The parts of run_job, one for each kind of task.
#pragma once

#include "engine/train/progress.h"
#include "engine/train/run.h"

namespace radl::engine {

Result<RunSummary> run_local(const Job& job, const RunHooks& hooks, Progress& progress);
Result<RunSummary> run_worker(const Job& job, const RunHooks& hooks, Progress& progress);
Result<RunSummary> run_server(const Job& job, const RunHooks& hooks,
                              Progress& progress);  // ps, and the chief in ps/0
Result<RunSummary> run_chief(const Job& job, const RunHooks& hooks,
                             Progress& progress);  // a chief of its own

Result<RunSummary> run_ring_worker(const Job& job, const RunHooks& hooks,
                                   Progress& progress);  // mode allreduce; worker 0 is the chief

}  // namespace radl::engine
