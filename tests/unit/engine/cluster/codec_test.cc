// Codecs of a sum: all members get the same bits, and what one sum leaves out comes with the next ones.
#include "engine/cluster/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <limits>

#include "tests/support/need.h"
#include "tests/unit/engine/cluster/collectives.h"

namespace radl::engine::cluster {
namespace {

using Kind = CodecOptions::Kind;
using Floats = std::vector<float>;

constexpr size_t kRows = 20, kColumns = 30, kBias = 7, kSize = kRows * kColumns + kBias;

std::vector<ParameterInfo> layout() {
  return {{.name = "weight", .shape = {kRows, kColumns}, .offset = 0, .size = kRows * kColumns},
          {.name = "bias", .shape = {kBias}, .offset = kRows * kColumns, .size = kBias}};
}
CodecOptions top_k(double density = 0.05) {
  return {.kind = Kind::TopK, .layout = layout(), .density = density};
}
CodecOptions power_sgd(int rank = 2) { return {.kind = Kind::PowerSgd, .layout = layout(), .rank = rank}; }

// What member `rank` brings to sum `k`.
Floats gradient(uint32_t rank, int k = 0) {
  Floats out(kSize);
  for (size_t i = 0; i < kSize; ++i)
    out[i] = std::sin(static_cast<float>(i * (rank + 1)) * 0.37f + static_cast<float>(k)) *
             (1 + 0.1f * static_cast<float>(i % 11));
  return out;
}

// The sum of all members, as each of them gets it.
std::vector<Floats> sums(Collectives& rings, int k = 0) {
  std::vector<std::future<Floats>> members;
  for (uint32_t r = 0; r < rings.size(); ++r)
    members.push_back(std::async(std::launch::async, [&, r] {
      Floats numbers = gradient(r, k), statistics = {1};
      Contribution own(numbers, statistics, {.steps = 1});
      test::need(rings[r]->sum(own));
      EXPECT_EQ(statistics[0], static_cast<float>(rings.size()));
      return numbers;
    }));
  std::vector<Floats> out;
  for (auto& member : members) out.push_back(member.get());
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

std::vector<double> exact(uint32_t members, int k = 0) {
  std::vector<double> out(kSize);
  for (uint32_t r = 0; r < members; ++r)
    for (size_t i = 0; const float v : gradient(r, k)) out[i++] += static_cast<double>(v);
  return out;
}

// One member, whose exchanges can fail.
class Alone : public Exchange {
 public:
  Status add(Numbers, Contribution&, std::span<float>) override {
    return --adds_left >= 0 ? Status() : Status(Code::Lost, "gone");
  }
  Result<std::vector<std::string>> gather(std::string_view own) override {
    return std::vector<std::string>{sends.empty() ? std::string(own) : sends};
  }
  int adds_left = std::numeric_limits<int>::max();
  std::string sends;  // in place of its own bytes
};

Floats sum(Codec& codec, Floats numbers) {
  Alone alone;
  Contribution own(numbers, {});
  test::need(codec.sum(alone, own));
  return numbers;
}

struct Case {
  const char* name;
  CodecOptions options;
  double first, later;  // how much the first sum lacks at least, and the mean of many at most
  int adds;             // additions in a sum
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
class CodecTest : public testing::TestWithParam<Case> {};

TEST_P(CodecTest, AllMembersGetTheSameBits) {
  for (uint32_t n : {1u, 2u, 3u, 5u}) {
    auto rings = make_rings(n, GetParam().options);
    for (int k = 0; k < 4; ++k) {
      const std::vector<Floats> all = sums(rings, k);
      for (const Floats& other : all) EXPECT_EQ(other, all[0]) << n << " members, sum " << k;
    }
  }
}

TEST_P(CodecTest, WhatASumLeavesOutComesWithTheNextOnes) {
  constexpr int kSums = 200;
  auto rings = make_rings(3, GetParam().options);
  std::vector<double> mean(kSize);
  double first = 0;
  for (int k = 0; k < kSums; ++k) {
    const Floats sum = sums(rings)[0];
    for (size_t i = 0; i < kSize; ++i) mean[i] += static_cast<double>(sum[i]) / kSums;
    if (k == 0) first = distance({sum.begin(), sum.end()}, exact(3));
  }
  EXPECT_GT(first, GetParam().first);
  EXPECT_LT(distance(mean, exact(3)), GetParam().later);
}

TEST_P(CodecTest, AFailedSumChangesNothing) {
  const auto codec = Codec::make(GetParam().options), other = Codec::make(GetParam().options);
  EXPECT_EQ(sum(*codec, gradient(0)), sum(*other, gradient(0)));
  for (int adds = 0; adds < GetParam().adds; ++adds) {
    Alone fails;
    fails.adds_left = adds;
    Floats numbers = gradient(1);
    Contribution own(numbers, {});
    EXPECT_EQ(codec->sum(fails, own).code(), Code::Lost);
  }
  EXPECT_EQ(sum(*codec, gradient(2)), sum(*other, gradient(2)));
}

TEST_P(CodecTest, ASumThatNobodyUsesCanBeUndone) {
  const auto codec = Codec::make(GetParam().options), other = Codec::make(GetParam().options);
  for (const auto& one : {codec.get(), other.get()}) sum(*one, gradient(0));
  sum(*codec, gradient(1));
  codec->undo();
  codec->undo();  // once
  EXPECT_EQ(codec->state(), other->state());
  EXPECT_EQ(sum(*codec, gradient(2)), sum(*other, gradient(2)));
}

TEST_P(CodecTest, ResumesFromItsState) {
  const auto codec = Codec::make(GetParam().options), resumed = Codec::make(GetParam().options),
             fresh = Codec::make(GetParam().options);
  EXPECT_TRUE(codec->state().empty()) << "before the first sum";
  for (int k = 0; k < 3; ++k) sum(*codec, gradient(0, k));
  resumed->restore(codec->state(), true);
  const Floats next = sum(*codec, gradient(1));
  EXPECT_EQ(sum(*resumed, gradient(1)), next);
  EXPECT_NE(sum(*fresh, gradient(1)), next);
  const std::vector<Floats> foreign = {Floats(3), Floats(3), Floats(3)};
  resumed->restore(foreign, true);
  const auto another = Codec::make(GetParam().options);
  EXPECT_EQ(sum(*resumed, gradient(1)), sum(*another, gradient(1))) << "a state of another codec is none";
}

TEST_P(CodecTest, ANumberThatIsNotFiniteReachesAll) {
  const auto codec = Codec::make(GetParam().options);
  Floats numbers = gradient(0);
  numbers[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(all_finite(sum(*codec, numbers)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, CodecTest,
                         testing::Values(Case{"top_k", top_k(), 0.5, 0.15, 1},
                                         Case{"power_sgd", power_sgd(), 0.3, 0.1, 2}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TopK, SendsTheLargestAndAccumulatesTheOthersWithMomentum) {
  CodecOptions options{.kind = Kind::TopK,
                       .layout = {{.name = "p", .shape = {2}, .offset = 0, .size = 2}},
                       .density = 0.5,
                       .momentum = 0.5};
  const auto codec = Codec::make(options);
  codec->at(9);
  EXPECT_EQ(sum(*codec, {3, 1}), (Floats{3, 0}));
  EXPECT_EQ(sum(*codec, {3, 1}), (Floats{3, 0})) << "its momentum was cleared with it";
  EXPECT_EQ(sum(*codec, {3, 1}), (Floats{0, 1 + 2.5f - 1 + 1.75f}));
  options.nesterov = true;
  const auto nesterov = Codec::make(options);
  nesterov->at(9);
  EXPECT_EQ(sum(*nesterov, {3, 1}), (Floats{4.5f, 0}));
}

TEST(TopK, SendsTheLargestAmongManyThatAreAlike) {
  CodecOptions options{
      .kind = Kind::TopK, .layout = {{.name = "p", .shape = {6}, .offset = 0, .size = 6}}, .density = 0.5};
  const auto codec = Codec::make(options);
  codec->at(9);
  EXPECT_EQ(sum(*codec, {1, -1, 1, 5, 1, -2}), (Floats{1, 0, 0, 5, 0, -2}));
  EXPECT_EQ(sum(*codec, {0, 0, 0, 0, 0, 0}), (Floats{0, -1, 1, 0, 1, 0}));
}

TEST(TopK, SendsLessInLaterEpochs) {
  const auto codec = Codec::make(top_k(0.01));
  const auto sent = [&](double epoch) {
    codec->at(epoch);
    const Floats out = sum(*codec, gradient(0));
    return std::ranges::count_if(out, [](float v) { return v != 0; });
  };
  EXPECT_EQ(sent(0), 150 + 2) << "a quarter of the matrix, and of the bias";
  EXPECT_EQ(sent(1.9), 38 + 1);
  EXPECT_EQ(sent(50), 6 + 1) << "each tensor sends something";
}

TEST(TopK, RefusesBytesThatAreNoPartOfASum) {
  for (const std::string& bytes : {std::string(7, 'x'), std::string(8, '\xff')}) {
    const auto codec = Codec::make(top_k());
    Alone other;
    other.sends = bytes;
    Floats numbers = gradient(0);
    Contribution own(numbers, {});
    EXPECT_EQ(codec->sum(other, own).code(), Code::Corrupt);
  }
}

TEST(PowerSgd, IsExactForMatricesOfItsRank) {
  const auto codec = Codec::make(power_sgd(2));
  Floats numbers(kSize, 0.5f);
  for (size_t i = 0; i < kRows * kColumns; ++i)
    numbers[i] = 1e-6f * (static_cast<float>(i / kColumns) + 3) * (static_cast<float>(i % kColumns) - 9);
  const Floats out = sum(*codec, numbers);
  for (size_t i = 0; i < kSize; ++i) EXPECT_NEAR(out[i], numbers[i], 1e-4f * std::fabs(numbers[i]) + 1e-9f);
}

TEST(PowerSgd, StartsAgainAfterAGradientOfZeros) {
  const auto codec = Codec::make(power_sgd());
  EXPECT_EQ(sum(*codec, Floats(kSize, 0.0f)), Floats(kSize, 0.0f));
  EXPECT_NE(sum(*codec, gradient(0))[0], 0);
}

// A column that begins anew has another length than 1.
TEST(PowerSgd, ResumesBitByBitAfterAGradientOfZeros) {
  const auto codec = Codec::make(power_sgd()), resumed = Codec::make(power_sgd());
  sum(*codec, Floats(kSize, 0.0f));
  resumed->restore(codec->state(), true);
  EXPECT_EQ(resumed->state(), codec->state());
  EXPECT_EQ(sum(*resumed, gradient(0)), sum(*codec, gradient(0)));
}

// A joiner has the others' state, and left out nothing itself.
TEST(PowerSgd, AJoinerHasTheSharedFactorsOnly) {
  const auto old = Codec::make(power_sgd()), joiner = Codec::make(power_sgd());
  sum(*old, gradient(0));
  joiner->restore(old->state(), false);
  ASSERT_EQ(old->state().size(), 2u);
  sum(*joiner, Floats(kSize, 0.0f));
  const Floats nothing(kSize, 0.0f);
  EXPECT_EQ(joiner->state()[0], nothing);
  EXPECT_NE(old->state()[0], nothing);
}

TEST(Codecs, SendFewerBytes) {
  const auto sent = [](const CodecOptions& options) {
    auto rings = make_rings(2, options);
    sums(rings);
    return static_cast<double>(rings[0]->traffic().sent);
  };
  const double whole = sent({});
  EXPECT_LT(sent({.numbers = Numbers::Bf16}), 0.7 * whole);
  EXPECT_LT(sent({.numbers = Numbers::Int8}), 0.5 * whole);
  EXPECT_LT(sent(power_sgd()), 0.4 * whole);
  EXPECT_LT(sent(top_k()), 0.7 * whole) << "in the first epoch";
}

}  // namespace
}  // namespace radl::engine::cluster
