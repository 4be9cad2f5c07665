// Softmax cross-entropy with label smoothing (Szegedy et al. 2015): the reference. T is float or double.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/tensor/kinds.h"

namespace radl::engine::ref {

// logits [n, classes]. Stores the gradient of the mean loss in `gradient` unless it is null.
template <class T>
StepResult softmax_cross_entropy(const T* logits, const int32_t* labels, int n, int classes, float smoothing,
                                 T* gradient) {
  StepResult result;
  for (int b = 0; b < n; ++b) {
    const T* x = logits + static_cast<size_t>(b) * classes;
    int best = 0;
    for (int c = 1; c < classes; ++c)
      if (x[c] > x[best]) best = c;
    double sum = 0, mean = 0;
    for (int c = 0; c < classes; ++c) {
      sum += std::exp(static_cast<double>(x[c]) - x[best]);
      mean += static_cast<double>(x[c]) / classes;
    }
    const double log_sum = std::log(sum) + x[best];
    result.loss += (log_sum - (1.0 - smoothing) * x[labels[b]] - smoothing * mean) / n;
    result.correct += best == labels[b];
    for (int c = 0; gradient && c < classes; ++c) {
      const double target = smoothing / classes + (c == labels[b] ? 1.0 - smoothing : 0.0);
      gradient[static_cast<size_t>(b) * classes + c] =
          static_cast<T>((std::exp(static_cast<double>(x[c]) - log_sum) - target) / n);
    }
  }
  return result;
}

}  // namespace radl::engine::ref
