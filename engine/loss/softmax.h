// Softmax cross-entropy with label smoothing (Szegedy et al. 2015).
#pragma once

#include <cstdint>

#include "engine/model/network.h"

namespace radl::engine {

// logits [n, classes], labels 0 to classes - 1. Stores the gradient of the mean loss in `gradient` unless
// null. Computes in double, with the same result for every thread count.
StepResult softmax_cross_entropy(const float* logits, const int32_t* labels, int n, int classes,
                                 float smoothing, float* gradient);

}  // namespace radl::engine
