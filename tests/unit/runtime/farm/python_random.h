// Python's `random.Random(seed)`, as far as the task sets of packing_test.cc need it.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace radl::farm {

class PythonRandom {
 public:
  // init_by_array() of the reference implementation, with one word.
  explicit PythonRandom(uint32_t seed) {
    constexpr int kSize = 624;
    uint32_t state[kSize];
    state[0] = 19650218;
    for (int i = 1; i < kSize; ++i)
      state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + static_cast<uint32_t>(i);
    int i = 1;
    for (int k = kSize; k > 0; --k) {
      state[i] = (state[i] ^ (state[i - 1] ^ state[i - 1] >> 30) * 1664525u) + seed;
      if (++i >= kSize) state[0] = state[kSize - 1], i = 1;
    }
    for (int k = kSize - 1; k > 0; --k) {
      state[i] = (state[i] ^ (state[i - 1] ^ state[i - 1] >> 30) * 1566083941u) - static_cast<uint32_t>(i);
      if (++i >= kSize) state[0] = state[kSize - 1], i = 1;
    }
    state[0] = 0x80000000u;
    struct Words {  // a seed sequence that gives the state as it is
      const uint32_t* words;
      using result_type = uint32_t;
      void generate(uint32_t* begin, uint32_t* end) { std::copy(words, words + (end - begin), begin); }
    } words{state};
    engine_.seed(words);
  }
  double random() {
    const uint32_t a = bits() >> 5, b = bits() >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
  }
  uint32_t below(uint32_t n) {
    int width = 0;
    while (n >> width) ++width;
    for (;;) {
      const uint32_t drawn = bits() >> (32 - width);
      if (drawn < n) return drawn;
    }
  }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1)));
  }
  double exponential(double rate) { return -std::log(1.0 - random()) / rate; }
  double lognormal(double mu, double sigma) {
    const double magic = 4 * std::exp(-0.5) / std::sqrt(2.0);
    for (;;) {
      const double u = random(), v = 1.0 - random(), z = magic * (u - 0.5) / v;
      if (z * z / 4.0 <= -std::log(v)) return std::exp(mu + z * sigma);
    }
  }

 private:
  uint32_t bits() { return static_cast<uint32_t>(engine_()); }
  std::mt19937 engine_;
};

}  // namespace radl::farm
