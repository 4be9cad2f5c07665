// First values of parameters and statistics, from a seed; and the whitening of a first convolution.
#pragma once

#include <span>

#include "engine/model/graph.h"

namespace radl::engine {

// Parameters and statistics have the sizes of the graph's layout. The same seed gives the same bits
// everywhere.
void initialise(const Graph& graph, uint64_t seed, std::span<float> parameters, std::span<float> statistics);

// Sets the graph's whitening convolution (if it has one) so that its outputs over the images' patches are
// decorrelated and of unit variance: eigenvectors of the patches' covariance, and their negatives (Page 2018,
// "How to train your ResNet"; Jordan 2024). Invalid when there are fewer images than inputs of a patch.
Status set_whitening(const Graph& graph, const Batch& batch, std::span<float> parameters);

}  // namespace radl::engine
