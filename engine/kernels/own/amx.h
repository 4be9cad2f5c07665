// Kernel interface to Intel's matrix unit AMX (Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 1, chapter "Programming with Intel AMX"): eight tile registers per thread, each of up to 16 rows of
// up to 64 bytes, and an instruction that adds the product of two to a third.
//
// Kernels are templates over a unit: AmxUnit executes the instructions, AmxEmulation (amx_emulation.h)
// emulates them in plain C++ by the manual. Both have these static functions, where T, C, A and B are
// register numbers:
//
//   configure(config)   sets this thread's shapes; all registers become zero
//   zero<T>()
//   load<T>(from, stride), store<T>(to, stride)   rows `stride` bytes apart, of the register's shape
//   dot<C, A, B>()      C[m][n] += sum over k of A[m][2k] * B[k][2n] + A[m][2k+1] * B[k][2n+1]
//                       of bf16 in A and B into fp32 in C; denormal numbers are zero
//   release()           drops the shapes; the system then has nothing to save
#pragma once

#include <cstddef>
#include <cstdint>

namespace radl::engine::own {

// The operand of LDTILECFG in its memory layout.
struct alignas(64) TileConfig {
  uint8_t palette = 1;  // eight registers of 16 rows of 64 bytes
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  constexpr void set(int tile, int row_count, int bytes) {
    rows[tile] = static_cast<uint8_t>(row_count);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }
};
static_assert(sizeof(TileConfig) == 64);
static_assert(offsetof(TileConfig, start_row) == 1 && offsetof(TileConfig, row_bytes) == 16 &&
              offsetof(TileConfig, rows) == 48);

// Inline assembly, because GCC 12's intrinsics take register numbers as text, which templates cannot supply,
// because its loads do not declare that they read memory, and its LDTILECFG declares only eight bytes.
struct AmxUnit {
  static constexpr const char* kName = "amx_bf16";

  [[gnu::always_inline]] static void configure(const TileConfig& config) {
    asm volatile("ldtilecfg %0" : : "m"(config) : "memory");
  }
  [[gnu::always_inline]] static void release() { asm volatile("tilerelease" : : : "memory"); }
  template <int T>
  [[gnu::always_inline]] static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
  }
  template <int T>
  [[gnu::always_inline]] static void load(const void* from, size_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(T) : "memory");
  }
  template <int T>
  [[gnu::always_inline]] static void store(void* to, size_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(T) : "memory");
  }
  template <int C, int A, int B>
  [[gnu::always_inline]] static void dot() {
    static_assert(C != A && C != B && A != B);
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
};

}  // namespace radl::engine::own
