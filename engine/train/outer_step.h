// The outer step: reunites members after each has taken steps of its own (docs/training.md, "Distant
// nodes").
//
// All members share the same anchor G and velocity v. A member's weights are w; they were s when the sum of
// the differences s - G began. With m, the mean of these differences by steps done:
//     v = momentum v + m;  G += rate (m + momentum v);  w = G + (w - s)
// Changes since s stay with the member, so it may continue during the exchange (Kale et al. 2025; DGA).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/train/job.h"

namespace radl::engine {

struct OuterRule {
  uint64_t steps = 1;  // steps of a member between the beginnings of two exchanges
  uint64_t delay = 0;  // steps of a member during an exchange
  float rate = 1, momentum = 0;

  // Steps of the round that begins at batch `first` of `total`: at most 4 in the last tenth of a delayed run,
  // so that the members end close to each other.
  uint64_t steps_at(uint64_t first, uint64_t total) const;
  friend bool operator==(const OuterRule&, const OuterRule&) = default;
};

// The job's rule, with defaults for this many workers.
OuterRule outer_rule(const SyncSpec& sync, size_t workers);

// Applies a step with the sum of differences times `scale`. `velocity` is empty without momentum. Invalidates
// the content of `sum`.
void apply_outer_step(const OuterRule& rule, std::span<const float> sum, float scale,
                      std::span<const float> sent, std::span<float> velocity, std::span<float> anchor,
                      std::span<float> weights);

}  // namespace radl::engine
