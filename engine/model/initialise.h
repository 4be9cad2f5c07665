// Initial values of parameters and statistics from a seed, and the whitening of a first convolution.
#pragma once

#include <span>

#include "engine/model/graph.h"

namespace radl::engine {

// Sizes must match the graph's layout. The same seed gives the same bits on every
// machine.
void initialise(const Graph& graph, uint64_t seed, std::span<float> parameters, std::span<float> statistics);

// Sets the graph's whitening convolution, if any, so that its outputs over the images' patches are
// decorrelated with unit variance: eigenvectors of the patches' covariance, and their negatives (Page 2018,
// "How to train your ResNet"; Jordan 2024). Invalid: fewer images than inputs of a patch.
Status set_whitening(const Graph& graph, const Batch& batch, std::span<float> parameters);

}  // namespace radl::engine
