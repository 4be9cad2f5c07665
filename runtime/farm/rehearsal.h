// A farm played through before it runs, in virtual time and without failures: for plans.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/farm/settings.h"

namespace radl::farm {

// With fewer finished tasks, the lengths of the others are not known well enough for a forecast.
inline constexpr size_t kMeasuredTasks = 3;

// So many nodes from then on.
struct NodeCount {
  double from = 0;
  size_t nodes = 0;
};

struct Rehearsal {
  size_t tasks = 0;
  size_t at_once = 0;       // the most that run at a time
  double rounds = 0;        // its length in mean lengths of a task, rounded up; of equal tasks their waves
  bool known = false;       // every task that is left has a predicted length
  double seconds = 0;       // if known: until the last task ends
  double node_seconds = 0;  // if known: of nodes that run at least one task
  double paid_seconds = 0;  // if known: of all nodes, from the beginning until each is removed
  std::vector<NodeCount> nodes;  // if known: seconds after the beginning; the last one is 0 nodes
  size_t never = 0;              // tasks for which no node is large enough
  std::string why_never;         // of the first of them
};

// `nodes`: what each node offers. Trials of a search count as tasks of unknown length.
Rehearsal rehearse(const FarmSettings& settings, const std::vector<Resources>& nodes);
// Nodes that come and go while a farm runs.
struct Comings {
  std::map<std::string, Resources> late;  // nodes that are created
  double create_seconds = 0;              // until they take tasks; they are paid from the beginning
  double idle_seconds = -1;  // after its last task a node is removed so much later; negative: at the end
};
// The rest of a running farm, from `now` on. Lengths are Farm::predicted(), which learns from finished tasks.
// `trial_needs`: of each of `trials`.
Rehearsal rehearse_rest(Farm farm, double now, const TrialsLeft& trials = {},
                        const Resources& trial_needs = {}, const Comings& comings = {});
// The farm with each of the nodes there: one that does not answer comes back, or is replaced.
Farm with_nodes(Farm farm, const std::map<std::string, Resources>& nodes);

}  // namespace radl::farm
