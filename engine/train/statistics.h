// Running statistics of batch normalisation, where several workers add to the same ones.
#pragma once

#include <vector>

#include "common/stop.h"
#include "engine/train/setup.h"

namespace radl::engine {

// For each number of Network::statistics(), the share that an update keeps; 1 if no update changes it, as in
// a frozen layer.
std::vector<float> statistics_keep(const Network& network);

// Sets the network's statistics to the mean over the last training batches of the run, 8192 images or an
// epoch. Weights that are a mean have other statistics than the weights that they are the mean of (Wu and
// Johnson 2021). At a border only: gradients are overwritten. Cancelled if `stop` asks for it.
Status recompute_statistics(Setup& setup, const Job& job, const Stop& stop);

}  // namespace radl::engine
