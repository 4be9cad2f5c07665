// Random numbers that depend on a seed and on their purpose, never on the order of calls.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace radl::farm {

// SplitMix64.
inline uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class Draws {
 public:
  Draws(uint64_t seed, uint64_t purpose, uint64_t number)
      : state_(mixed(mixed(mixed(seed) ^ purpose) ^ number)) {}
  double uniform() {
    state_ = mixed(state_);
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
