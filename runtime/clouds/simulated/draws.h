// Random numbers from one seed: the same sequence on every machine.
#pragma once

#include <cstdint>

#include "common/split_mix.h"

namespace radl::simulated {

// The state is a single number, so a cloud stored in a file continues the sequence.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    const uint64_t drawn = split_mix64(state_);
    state_ += kSplitMixStep;
    return drawn;
  }
  // 0 <= it < 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  // 0 <= result < count; count > 0. The bias of the remainder is negligible for tests.
  uint64_t below(uint64_t count) { return next() % count; }
  // A probability of 0 draws nothing, so disabled faults do not shift the other draws.
  bool chance(double probability) { return probability > 0 && unit() < probability; }
  // Uniform between half the average and one and a half times the average.
  double around(double average) { return average > 0 ? between(average / 2, average * 1.5) : 0; }

  uint64_t state() const { return state_; }

 private:
  uint64_t state_;
};

}  // namespace radl::simulated
