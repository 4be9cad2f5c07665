#include "engine/optim/optimizer.h"

namespace radl::engine {

void WeightAverage::ema(std::span<const float> weights, float decay) {
  for (size_t i = 0; i < average_.size(); ++i) average_[i] = decay * average_[i] + (1 - decay) * weights[i];
}

void WeightAverage::lookahead(std::span<float> weights, float decay) {
  for (size_t i = 0; i < average_.size(); ++i) {
    average_[i] = decay * average_[i] + (1 - decay) * weights[i];
    weights[i] = average_[i];
  }
}

}  // namespace radl::engine
