// Work on a graph, each vertex a coroutine: what the actions of a plan and the intents of a recovery are.
// Internal to runtime/exec.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/exec/park.h"

namespace radl {

struct WorkGraph {
  const Dag& dag;
  std::vector<bool> tolerant, barrier;                              // see Schedule; empty: none is
  std::function<std::vector<std::string>(Dag::Id)> exclusive = {};  // likewise
  std::function<void(Dag::Id, Dag::Id cause)> skipped = {};
  // The work of a vertex, which may park; called in its first turn.
  std::function<Async<Status>(Dag::Id, Park&)> begin;
  // What came of it, or what it threw; on the thread of its last turn. The status that counts for the graph.
  std::function<Status(Dag::Id, Status)> ended;
};

struct OperationsOver {
  Status status;               // not ok: it could not even be gone on; what ran was waited for
  std::vector<Dag::Id> never;  // not begun: because of a stop, or of `status`
  std::vector<Dag::Id> cut;    // begun and not brought to an end, because of `status`: their intents are open
  std::vector<bool> well;      // by vertex: it succeeded
};

// Runs all of it with the execution's threads, clock, stops and clouds. The clouds that it will ask must have
// been found before (CloudSet::find): each gets a thread for its looks.
OperationsOver run_operations(Execution& execution, const WorkGraph& what);

}  // namespace radl
