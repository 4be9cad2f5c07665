// Running statistics of batch normalisation, where several workers add to the same ones.
#pragma once

#include <vector>

#include "engine/model/network.h"

namespace radl::engine {

// For each number of Network::statistics(), the share that an update keeps; 1 if no update changes it, as in
// a frozen layer.
std::vector<float> statistics_keep(const Network& network);

}  // namespace radl::engine
