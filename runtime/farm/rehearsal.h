// Simulates a farm before it runs, in virtual time and without failures, for plans.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/farm/settings.h"

namespace radl::farm {

// Minimum number of finished tasks for predicting the durations of the others.
inline constexpr size_t kMeasuredTasks = 3;

// The number of nodes from that time on.
struct NodeCount {
  double from = 0;
  size_t nodes = 0;
};

struct Rehearsal {
  size_t tasks = 0;
  size_t at_once = 0;       // maximum number of concurrent tasks
  double rounds = 0;        // duration in mean task lengths, rounded up; the number of waves for equal tasks
  bool known = false;       // every remaining task has a predicted length
  double seconds = 0;       // if known: until the end of the last task
  double node_seconds = 0;  // if known: of nodes running at least one task
  double paid_seconds = 0;  // if known: of all nodes, from the start until their removal
  std::vector<NodeCount> nodes;  // if known: seconds after the start; the last entry is 0 nodes
  size_t never = 0;              // tasks too large for every node
  std::string why_never;         // of the first of them
};

// `nodes`: resources of each node. Trials of a search count as tasks of unknown length.
Rehearsal rehearse(const FarmSettings& settings, const std::vector<Resources>& nodes);
// Nodes that are created and removed while a farm runs.
struct Comings {
  std::map<std::string, Resources> late;  // nodes to be created
  double create_seconds = 0;              // until they accept tasks; billed from the start
  double idle_seconds = -1;  // delay of a node's removal after its last task; negative: at the end
};
// The rest of a running farm from `now` on. Task lengths are from Farm::predicted(), which learns from
// finished tasks. `trial_needs`: of each of `trials`.
Rehearsal rehearse_rest(Farm farm, double now, const TrialsLeft& trials = {},
                        const Resources& trial_needs = {}, const Comings& comings = {});
// The same to within 0.5% of the duration, in less time if many tasks are left: waiting tasks that need the
// same count as one. `nodes`: as of with_nodes().
Rehearsal forecast_rest(const Farm& farm, double now, const TrialsLeft& trials, const Resources& trial_needs,
                        const Comings& comings = {}, const std::map<std::string, Resources>& nodes = {});
// The farm with all nodes available: unresponsive ones return or are replaced.
Farm with_nodes(Farm farm, const std::map<std::string, Resources>& nodes);

}  // namespace radl::farm
