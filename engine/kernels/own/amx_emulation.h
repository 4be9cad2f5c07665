// The tile registers of amx.h in plain C++, for processors without AMX and to verify those with it: shapes,
// order of operations, rounding and faults by Intel's manual (volume 2, LDTILECFG, TILELOADD, TILESTORED,
// TILEZERO, TILERELEASE, TDPBF16PS). Each thread has its own registers.
#pragma once

#include <stdexcept>

#include "engine/kernels/own/amx.h"

namespace radl::engine::own {

// Corresponds to a processor's #GP or #UD.
class AmxFault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class AmxEmulation {
 public:
  static constexpr const char* kName = "amx_bf16 (emulated)";

  static void configure(const TileConfig& config);
  static void release();
  template <int T>
  static void zero() {
    zero(T);
  }
  template <int T>
  static void load(const void* from, size_t stride) {
    load(T, from, stride);
  }
  template <int T>
  static void store(void* to, size_t stride) {
    store(T, to, stride);
  }
  template <int C, int A, int B>
  static void dot() {
    dot(C, A, B);
  }

  static void zero(int tile);
  static void load(int tile, const void* from, size_t stride);
  static void store(int tile, void* to, size_t stride);
  static void dot(int c, int a, int b);
  // True if this thread has shapes, that is, if it did not call release().
  static bool configured();
};

}  // namespace radl::engine::own
