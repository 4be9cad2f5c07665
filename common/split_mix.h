// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). Gives the same
// numbers on every computer, unlike <random>'s distributions.
#pragma once

#include <cstdint>

namespace radl {

// Output for state `value`; the next state is `value` + kSplitMixStep.
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;
constexpr uint64_t split_mix64(uint64_t value) {
  value += kSplitMixStep;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace radl
