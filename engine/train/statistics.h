// Running statistics of batch normalization that several workers contribute to.
#pragma once

#include <vector>

#include "common/stop.h"
#include "engine/train/setup.h"

namespace radl::engine {

// For each number of Network::statistics(), the share that an update keeps; 1 if no update changes it, as in
// a frozen layer.
std::vector<float> statistics_keep(const Network& network);

// Sets the network's statistics to the mean over the run's last training batches: 8192 images or an epoch.
// Needed for averaged weights, whose statistics differ from those of the weights that were averaged (Wu and
// Johnson 2021). Call at a border only: overwrites the gradients. Cancelled if `stop` requests it.
Status recompute_statistics(Setup& setup, const Job& job, const Stop& stop);

}  // namespace radl::engine
