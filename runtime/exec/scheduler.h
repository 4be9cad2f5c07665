// Runs a graph on several threads: what is free starts, as many as allowed, never two that need the same
// thing. Knows nothing of what a vertex is. Internal to runtime/exec.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/graph/dag.h"

namespace radl {

struct Schedule {
  const Dag& dag;
  std::vector<bool> tolerant;  // see ReadyQueue; these are over as soon as they are free
  int parallelism = 1;
  std::function<std::vector<std::string>(Dag::Id)> exclusive;  // names that only one running vertex may hold
  std::function<bool(Dag::Id)> run;                            // on some thread; false: it failed
  std::function<void(Dag::Id, Dag::Id cause)> skipped;  // given up because `cause` failed; one call at a time
  std::function<bool()> stop;                           // true: nothing more is started
};

// Returns when nothing runs and nothing more can be started; the vertices that were never started because of
// `stop`.
std::vector<Dag::Id> run_schedule(const Schedule& schedule);

}  // namespace radl
