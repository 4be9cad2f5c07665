// Random numbers that depend on a seed and on their purpose, never on the order of calls.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "common/split_mix.h"

namespace radl::farm {

class Draws {
 public:
  Draws(uint64_t seed, uint64_t purpose, uint64_t number)
      : state_(split_mix64(split_mix64(split_mix64(seed) ^ purpose) ^ number)) {}
  double uniform() {
    state_ = split_mix64(state_);
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace radl::farm
