#include "engine/optim/optimizer.h"

namespace radl::engine {

void WeightAverage::update(std::span<const float> weights, uint64_t batch) {
  if (config_.kind == AverageConfig::Kind::None || batch < config_.from) return;
  ++count_;
  if (count_ == 1) return values_.assign(weights.begin(), weights.end());
  const float share = config_.kind == AverageConfig::Kind::Ema
                          ? 1 - config_.decay
                          : static_cast<float>(1.0 / static_cast<double>(count_));
  for (size_t i = 0; i < values_.size(); ++i) values_[i] += share * (weights[i] - values_[i]);
}

void WeightAverage::restore(std::vector<float> values, uint64_t count) {
  values_ = std::move(values);
  count_ = count;
}

}  // namespace radl::engine
