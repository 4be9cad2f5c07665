// How many nodes an elastic farm should have.
//
// Pure: no clock, threads or files.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "runtime/farm/rehearsal.h"

namespace radl::farm {

struct SizeQuestion {
  TrialsLeft trials = {};
  Resources trial_needs = {};
  std::vector<std::string> there = {};  // nodes that exist; with fewer, the first of them stay
  Resources offered = {};               // per node
  size_t least = 0, most = 0;           // nodes, while tasks are left
  double create_seconds = 0;            // until a new node takes tasks
  double idle_seconds = 60;
  double worth = 1;                                            // ElasticSettings
  double paid_most = std::numeric_limits<double>::infinity();  // node-seconds that the rest may take
};

struct Size {
  size_t nodes = 0;
  Rehearsal run;  // with this number of nodes
};

// Returns the number of nodes for the rest of a farm, from `now` on. Another node is worth it if `worth`
// times the time that it saves exceeds the additional node-hours, idle time included. 0 if no task is left.
// If a length is unknown, the existing nodes, at least one. More than `least` nodes never take more than
// `paid_most`.
Size best_size(const Farm& farm, double now, const SizeQuestion& question);

}  // namespace radl::farm
