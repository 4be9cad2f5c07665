#include "engine/train/outer_step.h"

#include <algorithm>

namespace radl::engine {
namespace {

constexpr uint64_t kLastSteps = 4;
constexpr double kMomentum = 0.2, kMomentumOfMany = 0.5;
constexpr size_t kMany = 8;  // workers

}  // namespace

uint64_t OuterRule::steps_at(uint64_t first, uint64_t total) const {
  const bool last = delay > 0 && first >= total - total / 10;
  return last ? std::min(steps, std::max(delay, kLastSteps)) : steps;
}

OuterRule outer_rule(const SyncSpec& sync, size_t workers) {
  OuterRule out{.steps = static_cast<uint64_t>(sync.local_steps),
                .delay = static_cast<uint64_t>(sync.delay),
                .rate = static_cast<float>(sync.outer_rate)};
  const double momentum = sync.outer_momentum != kChosen ? sync.outer_momentum
                          : sync.delay == 0              ? 0
                          : workers >= kMany             ? kMomentumOfMany
                                                         : kMomentum;
  out.momentum = static_cast<float>(momentum);
  return out;
}

void apply_outer_step(const OuterRule& rule, std::span<const float> sum, float scale,
                      std::span<const float> sent, std::span<float> velocity, std::span<float> anchor,
                      std::span<float> weights) {
  for (size_t i = 0; i < anchor.size(); ++i) {
    float step = scale * sum[i];
    if (!velocity.empty()) {
      velocity[i] = rule.momentum * velocity[i] + step;
      step += rule.momentum * velocity[i];
    }
    anchor[i] += rule.rate * step;
    weights[i] = anchor[i] + (weights[i] - sent[i]);
  }
}

}  // namespace radl::engine
