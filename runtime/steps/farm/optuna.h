// Optuna as a farm's searcher: asks Python on this computer for each trial's values.
#pragma once

#include "common/process/environment.h"
#include "common/stop.h"
#include "runtime/farm/search.h"

namespace radl::farm {

// Runs the user's `python3` with a study of all trials so far and a fixed sampler seed, so that the
// result depends only on the request. Unsupported: it cannot import optuna, or optuna lacks the
// sampler.
Suggest ask_optuna(Environment environment, Stop stop);

}  // namespace radl::farm
