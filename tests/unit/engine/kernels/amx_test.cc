// The emulated tile registers against Intel's manual, the check of a processor's, and the compiled
// instructions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "amx_trap.h"
#include "engine/kernels/own/amx_check.h"
#include "engine/kernels/own/amx_emulation.h"
#include "engine/kernels/parallel.h"
#include "engine/tensor/buffer.h"

namespace radl::engine {
namespace {

using own::AmxEmulation;
using own::AmxFault;
using own::AmxUnit;
using own::TileConfig;

// C is register 0, A 1, B 2.
TileConfig shapes(int rows, int pairs, int columns) {
  TileConfig config;
  config.set(0, rows, 4 * columns);
  config.set(1, rows, 4 * pairs);
  config.set(2, pairs, 4 * columns);
  return config;
}

uint16_t half(float v) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16); }

// One sum: c + the products of a and b, which have an even number of values.
float dot(const std::vector<float>& a, const std::vector<float>& b, float c) {
  std::vector<uint16_t> left, right;
  for (float v : a) left.push_back(half(v));
  for (float v : b) right.push_back(half(v));
  const int pairs = static_cast<int>(a.size()) / 2;
  AmxEmulation::configure(shapes(1, pairs, 1));
  AmxEmulation::load<0>(&c, 4);
  AmxEmulation::load<1>(left.data(), 64);
  AmxEmulation::load<2>(right.data(), 4);
  AmxEmulation::dot<0, 1, 2>();
  AmxEmulation::store<0>(&c, 4);
  AmxEmulation::release();
  return c;
}

TEST(AmxEmulation, SumsFirstAndSecondValuesApartAndThenBoth) {
  EXPECT_EQ(dot({1, 2, 3, 4}, {5, 6, 7, 8}, 100), 100 + 5 + 12 + 21 + 32);
  // 2^30 + 1 - 2^30 loses the 1 where both 2^30 are in one sum with it, and keeps it where they are not.
  const float big = 1 << 30;
  EXPECT_EQ(dot({big, 0, 1, 0, -big, 0}, {1, 0, 1, 0, 1, 0}, 0), 0);
  EXPECT_EQ(dot({big, 0, 0, 1, -big, 0}, {1, 0, 0, 1, 1, 0}, 0), 1);
  // What is there comes last.
  EXPECT_EQ(dot({big, 0, -big, 0}, {1, 0, 1, 0}, 1), 1);
}

TEST(AmxEmulation, RoundsToNearestEven) {
  const float ulp = std::ldexp(1.0f, -23);
  EXPECT_EQ(dot({ulp / 2, 0}, {1, 0}, 1), 1);
  EXPECT_EQ(dot({ulp / 2, 0}, {1, 0}, 1 + ulp), 1 + 2 * ulp);
  // Fused: (1 + 2^-7)^2 - 1 keeps its last bit.
  EXPECT_EQ(dot({-1, 0, 1.0078125f, 0}, {1, 0, 1.0078125f, 0}, 0), 1.0078125f * 1.0078125f - 1);
}

TEST(AmxEmulation, DenormalNumbersAreZero) {
  const float smallest = std::numeric_limits<float>::min(), tiny = smallest / 2;
  EXPECT_EQ(dot({tiny, 0}, {std::ldexp(1.0f, 100), 0}, 0), 0);
  EXPECT_EQ(dot({smallest, 0}, {0.5f, 0}, 0), 0);
  EXPECT_EQ(dot({1, 0}, {0, 0}, tiny), 0);
  EXPECT_EQ(dot({smallest, 0}, {1, 0}, 0), smallest);
}

TEST(AmxEmulation, InfinityAndNanPass) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(dot({infinity, 1}, {1, 1}, 0), infinity);
  EXPECT_TRUE(std::isnan(dot({infinity, -infinity}, {1, 1}, 0)));
  EXPECT_TRUE(std::isnan(dot({infinity, 0}, {0, 0}, 0)));
}

TEST(AmxEmulation, LoadsAndStoresOnlyTheShape) {
  std::vector<uint8_t> from(1024), to(1024, 0xee);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i % 199);
  TileConfig config;
  config.set(3, 5, 12);
  AmxEmulation::configure(config);
  AmxEmulation::load<3>(from.data(), 40);
  AmxEmulation::store<3>(to.data(), 100);
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t row = i / 100, column = i % 100;
    EXPECT_EQ(to[i], row < 5 && column < 12 ? from[row * 40 + column] : 0xee) << i;
  }
  AmxEmulation::zero<3>();
  AmxEmulation::store<3>(to.data(), 12);
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(to[i], 0);
  AmxEmulation::release();
}

TEST(AmxEmulation, FaultsWhereAProcessorWould) {
  float memory[256] = {};
  AmxEmulation::release();
  EXPECT_THROW(AmxEmulation::zero<0>(), AmxFault);
  EXPECT_THROW(AmxEmulation::load<0>(memory, 64), AmxFault);
  const auto refused = [](TileConfig config) { EXPECT_THROW(AmxEmulation::configure(config), AmxFault); };
  TileConfig config;
  config.palette = 2, refused(config);
  config = {}, config.reserved[13] = 1, refused(config);
  config = {}, config.set(0, 17, 64), refused(config);
  config = {}, config.set(7, 16, 65), refused(config);
  config = {}, config.set(0, 0, 64), refused(config);
  config = {}, config.set(0, 16, 0), refused(config);
  config = {}, config.set(8, 16, 64), refused(config);
  // What fits, and what in it does not.
  config = shapes(4, 3, 2);
  config.set(4, 4, 8), config.set(5, 4, 6);
  AmxEmulation::configure(config);
  EXPECT_NO_THROW((AmxEmulation::dot<0, 1, 2>()));
  EXPECT_THROW((AmxEmulation::dot<0, 2, 1>()), AmxFault);
  EXPECT_THROW((AmxEmulation::dot<0, 4, 2>()), AmxFault);
  EXPECT_THROW((AmxEmulation::dot<0, 1, 4>()), AmxFault);
  EXPECT_THROW((AmxEmulation::dot<0, 1, 1>()), AmxFault);
  EXPECT_THROW(AmxEmulation::load<3>(memory, 64), AmxFault);  // no shape
  EXPECT_THROW(AmxEmulation::load<5>(memory, 64), AmxFault);  // rows of 6 bytes
  AmxEmulation::release();
  EXPECT_THROW((AmxEmulation::dot<0, 1, 2>()), AmxFault);
}

TEST(AmxEmulation, EachThreadHasItsRegisters) {
  AmxEmulation::configure(shapes(1, 1, 1));
  bool other = true;
  run_on_threads(
      2,
      [](void* context, int t) {
        if (t == 1) *static_cast<bool*>(context) = AmxEmulation::configured();
      },
      &other);
  EXPECT_FALSE(other);
  AmxEmulation::release();
}

// Units that are wrong in ways that hardware or an emulator of it could be.
struct ForgetsSecondValues : AmxEmulation {
  template <int C, int A, int B>
  static void dot() {
    alignas(64) uint16_t a[16][32] = {};
    AmxEmulation::store<A>(a, 64);
    for (auto& row : a)
      for (int i = 1; i < 32; i += 2) row[i] = 0;
    AmxEmulation::load<A>(a, 64);
    AmxEmulation::dot<C, A, B>();
  }
};
struct TakesColumnsForRows : AmxEmulation {
  template <int T>
  static void load(const void* from, size_t stride) {
    if (T != 4 || stride != 64) return AmxEmulation::load<T>(from, stride);
    uint32_t turned[16][16];
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) turned[j][i] = static_cast<const uint32_t*>(from)[16 * i + j];
    AmxEmulation::load<T>(turned, 64);
  }
};
struct KeepsOldSums : AmxEmulation {
  template <int T>
  static void zero() {}
  template <int T>
  static void store(void* to, size_t stride) {
    if (T != 3) AmxEmulation::store<T>(to, stride);
  }
};

TEST(AmxCheck, FindsAUnitThatIsWrong) {
  EXPECT_EQ(own::amx_disagreement<AmxEmulation>(), "");
  EXPECT_NE(own::amx_disagreement<ForgetsSecondValues>(), "");
  EXPECT_NE(own::amx_disagreement<TakesColumnsForRows>(), "");
  EXPECT_NE(own::amx_disagreement<KeepsOldSums>(), "");
}

TEST(AmxCheck, AWrongUnitIsNotUsedAndTheListingSaysSo) {
  CpuFeatures f;
  f.avx512_bf16 = f.amx_bf16 = true;
  const std::string why = own::amx_disagreement<ForgetsSecondValues>();
  const CpuFeatures left = without_amx(f, why);
  EXPECT_TRUE(left.avx512_bf16);
  EXPECT_FALSE(left.amx_bf16);
  EXPECT_TRUE(left.limited);
  EXPECT_EQ(left.warning, "AMX is not used: " + why);
  EXPECT_EQ(cpu_text(left), "avx512_bf16 (" + left.warning + ")");
  EXPECT_EQ(cpu_text(f), "avx512_bf16 amx_bf16");
}

// The instructions as they are compiled, by the processor or by the trap.
TEST(AmxUnit, AgreesWithTheEmulation) {
  const AmxTrap trap;
  const long before = AmxTrap::count();
  EXPECT_EQ(own::amx_disagreement(), "");
  // A processor may do them although this process keeps off them (RADL_MAX_ISA, a hypervisor's permissions).
  const long trapped = AmxTrap::count() - before;
  EXPECT_TRUE(trapped == 0 || trapped > 40) << trapped << " instructions by the trap, on " << cpu_text(cpu());
  EXPECT_TRUE(trapped == 0 || !cpu().amx_bf16);
}

// Threads made before and after the process asked for the permission have it.
TEST(AmxUnit, AgreesOnEveryThread) {
  if (!cpu().amx_bf16) GTEST_SKIP() << "this processor has no AMX";
  std::string found[4];
  run_on_threads(
      4, [](void* context, int t) { static_cast<std::string*>(context)[t] = own::amx_disagreement(); },
      found);
  for (const std::string& text : found) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace radl::engine
