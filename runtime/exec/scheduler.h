// Runs a graph on several threads: what is free starts, as many as allowed, never two that need the same
// thing. Knows nothing of what a vertex is. Internal to runtime/exec.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/graph/dag.h"

namespace radl {

struct Schedule {
  const Dag& dag;
  std::vector<bool> tolerant;  // see ReadyQueue
  std::vector<bool> barrier;   // over as soon as they are free; `run` is not called for them
  int parallelism = 1;
  std::function<std::vector<std::string>(Dag::Id)> exclusive;  // names that only one running vertex may hold
  std::function<bool(Dag::Id)> run;                            // on some thread; false: it failed
  std::function<void(Dag::Id, Dag::Id cause)> skipped;  // given up because `cause` failed; one call at a time
  std::function<bool()> stop;                           // true: nothing more is started
};

struct Scheduled {
  std::vector<Dag::Id> never;  // not started: because of `stop`, or of `status`
  Status status;               // Quota: there was not even the memory to go on; what ran was waited for
};
// Returns when nothing runs and nothing more can be started. What `run` throws is taken for its failure; it
// had better catch it itself, to tell which. Fewer threads than asked for are used where no more can be had.
Scheduled run_schedule(const Schedule& schedule);

}  // namespace radl
