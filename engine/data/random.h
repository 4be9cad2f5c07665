// Random numbers that depend only on their key: the same (seed, epoch, index) gives the same image on every
// machine, with any number of threads, and after a resume. SplitMix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace radl::engine::data {

inline uint64_t mix64(uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class KeyedRandom {
 public:
  KeyedRandom(uint64_t seed, uint64_t epoch, uint64_t index)
      : state_(mix64(mix64(mix64(seed) ^ epoch) ^ index)) {}
  uint64_t next() {
    uint64_t value = mix64(state_);
    state_ += 0x9e3779b97f4a7c15ull;
    return value;
  }
  // 0 .. n-1 with negligible bias (n < 2^32).
  uint32_t below(uint32_t n) { return uint32_t(((next() >> 32) * uint64_t(n)) >> 32); }
  // [0, 1)
  float uniform() { return float(next() >> 40) * (1.0f / 16777216.0f); }
  float between(float low, float high) { return low + (high - low) * uniform(); }

 private:
  uint64_t state_;
};

}  // namespace radl::engine::data
