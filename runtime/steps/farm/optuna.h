// Optuna as the searcher of a farm: Python on this computer is asked for the values of each trial.
#pragma once

#include "common/process/environment.h"
#include "common/stop.h"
#include "runtime/farm/search.h"

namespace radl::farm {

// `python3` of the user's PATH answers, with a study of all trials so far and a sampler of its own seed, so
// that the answer depends on the request alone. Unsupported: it cannot import optuna, or optuna does not have
// the sampler.
Suggest ask_optuna(Environment environment, Stop stop);

}  // namespace radl::farm
