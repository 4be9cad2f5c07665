// Runs a graph whose vertices are coroutines: the actions of a plan, or the intents of a recovery. Internal
// to runtime/exec.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/exec/park.h"

namespace radl {

struct WorkGraph {
  const Dag& dag;
  std::vector<bool> tolerant, barrier;                              // see Schedule; empty: none
  std::function<std::vector<std::string>(Dag::Id)> exclusive = {};  // see Schedule
  std::function<void(Dag::Id, Dag::Id cause)> skipped = {};
  // Starts the work of a vertex, which may park. Called in its first turn.
  std::function<Async<Status>(Dag::Id, Park&)> begin;
  // Receives the result or the exception of the work, in its last turn. Returns the status that counts for
  // the graph.
  std::function<Status(Dag::Id, Status)> ended;
};

struct OperationsOver {
  Status status;               // not ok: the run could not continue; running work was waited for
  std::vector<Dag::Id> never;  // not started, because of a stop or `status`
  std::vector<Dag::Id> cut;    // started but cut off by `status`; their intents are open
  std::vector<bool> well;      // by vertex: it succeeded
};

// Runs the graph with the execution's threads, clock, stops and clouds. The caller must have found the clouds
// that it will ask (CloudSet::find); each gets a thread.
OperationsOver run_operations(Execution& execution, const WorkGraph& what);

}  // namespace radl
