// A plan as a graph of phases: a replacement is a removal and a making, which wait for different things.
#pragma once

#include <vector>

#include "runtime/graph/dag.h"
#include "runtime/plan/plan.h"

namespace radl {

struct PlanVertex {
  enum class Phase { Remove, Make, Barrier };
  Phase phase = Phase::Make;
  size_t index = 0;  // of the action, or of the barrier
};

struct PlanGraph {
  std::vector<PlanVertex> vertices;
  Dag dag;
  std::vector<bool> barrier;  // no work: over as soon as it is free
  // For ReadyQueue: barriers that do not ask for success, and jobs that run on (Action::rejoins).
  std::vector<bool> tolerant;
};

// Invalid: an unknown id, or a cycle (named).
Result<PlanGraph> plan_graph(const Plan& plan);

}  // namespace radl
