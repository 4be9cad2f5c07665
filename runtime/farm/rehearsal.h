// A farm played through before it runs, in virtual time and without failures: for plans.
#pragma once

#include <string>
#include <vector>

#include "runtime/farm/settings.h"

namespace radl::farm {

struct Rehearsal {
  size_t tasks = 0;
  size_t at_once = 0;       // the most that run at a time
  double rounds = 0;        // its length in mean lengths of a task, rounded up; of equal tasks their waves
  bool known = false;       // every task that is left has a predicted length
  double seconds = 0;       // if known: until the last task ends
  double node_seconds = 0;  // if known: of nodes that run at least one task
  size_t never = 0;         // tasks for which no node is large enough
  std::string why_never;    // of the first of them
};

// `nodes`: what each node offers. Trials of a search count as tasks of unknown length.
Rehearsal rehearse(const FarmSettings& settings, const std::vector<Resources>& nodes);
// What is left of a farm under way, from `now` on. Lengths are Farm::predicted(), so those of finished tasks
// count. `trials`: of its search that are not tasks yet, with what each needs.
Rehearsal rehearse_rest(Farm farm, double now, size_t trials = 0, const Resources& trial_needs = {});

}  // namespace radl::farm
