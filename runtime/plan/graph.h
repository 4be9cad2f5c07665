// A plan as a graph of phases: a replacement consists of a removal and a creation with separate dependencies.
#pragma once

#include <vector>

#include "runtime/graph/dag.h"
#include "runtime/plan/plan.h"

namespace radl {

struct PlanVertex {
  enum class Phase { Remove, Make, Barrier };
  Phase phase = Phase::Make;
  size_t index = 0;  // of the action or barrier
};

struct PlanGraph {
  std::vector<PlanVertex> vertices;
  Dag dag;
  std::vector<bool> barrier;  // no work: ends as soon as it is free
  // For ReadyQueue: barriers that do not require success, and jobs that keep running (Action::rejoins).
  std::vector<bool> tolerant;
};

// Invalid: an unknown ID, or a cycle (listed).
Result<PlanGraph> plan_graph(const Plan& plan);

}  // namespace radl
