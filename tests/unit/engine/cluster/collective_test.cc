// All-reduce: the sum is right and the same bits everywhere, and whoever is left learns that a member is
// gone.
#include "engine/cluster/collective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <numeric>
#include <thread>

#include "tests/unit/engine/cluster/collectives.h"

namespace radl::engine::cluster {
namespace {

// Member `rank`'s number `i`: sums of a few of them are exact in fp32.
float value(uint32_t rank, size_t i) {
  return static_cast<float>(static_cast<int>((i * 7 + rank * 13) % 64) - 32) / 8;
}

constexpr size_t kParameters = 500001;  // of ring_options()

using Notes = std::vector<RingNote>;

struct Outcome {
  std::vector<float> numbers, statistics;
  Result<Notes> notes = Status(Code::Internal, "");
};

Outcome add(Collective& collective, uint32_t rank, size_t numbers, size_t statistics) {
  Outcome out;
  for (size_t i = 0; i < numbers; ++i) out.numbers.push_back(value(rank, i));
  for (size_t i = 0; i < statistics; ++i) out.statistics.push_back(value(rank, i + 5));
  RingNote note{.steps = 1, .correct = rank, .images = 10 + rank, .loss = 0.5 * rank};
  Contribution own(out.numbers, out.statistics, note);
  out.notes = collective.sum(own);
  return out;
}

std::vector<Outcome> add_all(Collectives& rings, size_t numbers, size_t statistics) {
  std::vector<std::future<Outcome>> members;
  for (uint32_t r = 0; r < rings.size(); ++r)
    members.push_back(
        std::async(std::launch::async, [&, r] { return add(*rings[r], r, numbers, statistics); }));
  std::vector<Outcome> out;
  for (auto& m : members) out.push_back(m.get());
  return out;
}

struct Way {
  const char* name;
  Collectives (*make)(uint32_t size, const CodecOptions& codec);
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
class CollectiveTest : public testing::TestWithParam<Way> {
 protected:
  static Collectives make(uint32_t size, const CodecOptions& codec = {}) {
    return GetParam().make(size, codec);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, CollectiveTest,
                         testing::Values(Way{"ring", make_rings}, Way{"direct", make_direct}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(CollectiveTest, AddsWhateverTheSizes) {
  for (uint32_t n : {1u, 2u, 3u, 5u}) {
    auto rings = make(n);
    for (auto [numbers, statistics] :
         {std::pair{1000u, 7u}, {1u, 0u}, {0u, 3u}, {n, n}, {50001u, 2u}, {100000u, 2u}, {400003u, 5u}}) {
      std::vector<Outcome> all = add_all(rings, numbers, statistics);
      for (const Outcome& o : all) {
        ASSERT_TRUE(o.notes.ok()) << o.notes.status().text();
        for (size_t i = 0; i < numbers; ++i) {
          float want = 0;
          for (uint32_t r = 0; r < n; ++r) want += value(r, i);
          ASSERT_EQ(o.numbers[i], want) << n << " members, number " << i;
        }
        for (size_t i = 0; i < statistics; ++i) {
          float want = 0;
          for (uint32_t r = 0; r < n; ++r) want += value(r, i + 5);
          ASSERT_EQ(o.statistics[i], want);
        }
        ASSERT_EQ(o.notes->size(), n);
        for (uint32_t r = 0; r < n; ++r) EXPECT_EQ((*o.notes)[r], (RingNote{r, 1, r, 10 + r, 0.5 * r, 0}));
      }
    }
  }
}

TEST_P(CollectiveTest, AMemberSendsTwiceItsShareOfTheOthersNumbers) {
  auto rings = make(4);
  const uint64_t before = rings[1]->traffic().sent;
  add_all(rings, 100000, 0);
  const auto sent = static_cast<double>(rings[1]->traffic().sent - before);
  EXPECT_NEAR(sent / (2.0 * 3 / 4 * 100000 * sizeof(float)), 1, 0.01);  // 2 (n - 1) / n of them
}

// Not exact in 16 bits, but nobody may have other bits than the others.
TEST_P(CollectiveTest, RoundedSumsAreTheSameBitsEverywhere) {
  for (Numbers encoding : {Numbers::Bf16, Numbers::Fp16}) {
    auto rings = make(4, {.numbers = encoding});
    std::vector<Outcome> all = add_all(rings, 999, 20);
    for (const Outcome& o : all) {
      EXPECT_EQ(o.numbers, all[0].numbers);
      EXPECT_EQ(o.statistics, all[0].statistics);
    }
    for (size_t i = 0; i < 999; ++i) {
      float want = value(0, i) + value(1, i) + value(2, i) + value(3, i);
      EXPECT_NEAR(all[0].numbers[i], want, 0.2);
    }
  }
}

TEST_P(CollectiveTest, HandsTheStateAround) {
  auto rings = make(3);
  std::vector<std::future<TrainingState>> members;
  for (uint32_t r = 0; r < 3; ++r) {
    members.push_back(std::async(std::launch::async, [&, r] {
      TrainingState state;
      if (r == 0) {
        state.weights.assign(kParameters, 2.5f);
        state.statistics = {4, 5, 6};
        state.optimizer_steps = 9;
        state.optimizer = {std::vector<float>(kParameters, 3.5f), std::vector<float>(kParameters, 4.5f)};
        state.next = 12;
      }
      EXPECT_TRUE(rings[r]->start(state).ok());
      return state;
    }));
  }
  for (auto& m : members) {
    TrainingState state = m.get();
    EXPECT_EQ(state.weights, std::vector<float>(kParameters, 2.5f));
    EXPECT_EQ(state.optimizer.at(1), std::vector<float>(kParameters, 4.5f));
    EXPECT_EQ(state.next, 12u);
  }
}

TEST_P(CollectiveTest, AnyMemberHandsItsStateAround) {
  auto rings = make(3);
  std::vector<std::future<TrainingState>> members;
  for (uint32_t r = 0; r < 3; ++r) {
    members.push_back(std::async(std::launch::async, [&, r] {
      TrainingState state;
      state.weights.assign(kParameters, static_cast<float>(r));
      state.statistics = {4, 5, 6};
      state.next = r;
      EXPECT_TRUE(rings[r]->start(state, 2).ok());
      return state;
    }));
  }
  for (auto& m : members) {
    TrainingState state = m.get();
    EXPECT_EQ(state.weights, std::vector<float>(kParameters, 2));
    EXPECT_EQ(state.next, 2u);
  }
}

TEST_P(CollectiveTest, ACutEndsTheSumOfAll) {
  auto rings = make(3);
  std::vector<std::future<Status>> members;
  for (uint32_t r : {0u, 2u})
    members.push_back(
        std::async(std::launch::async, [&, r] { return add(*rings[r], r, 100, 2).notes.status(); }));
  rings[1]->cut();
  for (auto& m : members) EXPECT_EQ(m.get().code(), Code::Lost);
  for (const auto& ring : rings) EXPECT_EQ(ring->silent_rank(), std::nullopt) << "nobody was silent";
}

TEST_P(CollectiveTest, TheStateOfAnotherModelIsRefusedByAll) {
  auto rings = make(2);
  auto other = std::async(std::launch::async, [&] {
    TrainingState state;
    return rings[1]->start(state).code();
  });
  TrainingState state;
  state.weights = {1, 2, 3};
  state.statistics = {4};
  EXPECT_TRUE(rings[0]->start(state).ok());
  EXPECT_EQ(other.get(), Code::Corrupt);
  EXPECT_FALSE(add(*rings[0], 0, 3, 1).notes.ok());
}

TEST_P(CollectiveTest, EverySurvivorLearnsOfALostMember) {
  auto rings = make(4);
  ASSERT_TRUE(add_all(rings, 100, 2)[0].notes.ok());
  rings[2].reset();  // as if it had been killed
  auto begin = Clock::now();
  std::vector<std::future<Status>> members;
  for (uint32_t r : {0u, 1u, 3u})
    members.push_back(
        std::async(std::launch::async, [&, r] { return add(*rings[r], r, 100, 2).notes.status(); }));
  for (auto& m : members) EXPECT_EQ(m.get().code(), Code::Lost);
  EXPECT_LT(Clock::now() - begin, Milliseconds(8000));
}

TEST_P(CollectiveTest, AReasonToEndGoesAround) {
  auto rings = make(3);
  std::vector<std::future<Status>> members;
  for (uint32_t r : {0u, 2u})
    members.push_back(
        std::async(std::launch::async, [&, r] { return add(*rings[r], r, 100, 2).notes.status(); }));
  rings[1]->stop(Status(Code::Invalid, "training diverged"));
  for (auto& m : members) {
    Status why = m.get();
    EXPECT_EQ(why.code(), Code::Invalid);
    EXPECT_NE(why.message().find("training diverged"), std::string::npos) << why.message();
  }
}

// An exception ends a member's step while the others wait for its numbers.
TEST_P(CollectiveTest, AnAbandonedPartEndsTheSumOfAll) {
  auto rings = make(3);
  std::vector<float> numbers(999, 1.0f);
  Contribution own(numbers);
  auto first = std::async(std::launch::async, [&] { return rings[0]->sum(own); });
  std::vector<std::future<Outcome>> others;
  for (uint32_t r : {1u, 2u})
    others.push_back(std::async(std::launch::async, [&, r] { return add(*rings[r], r, 999, 3); }));
  own.announce(500, 999);
  own.abandon();
  EXPECT_EQ(first.get().status().code(), Code::Internal);
  for (auto& other : others) EXPECT_EQ(other.get().notes.status().code(), Code::Internal);
}

// What one sum rounds away, the next ones bring back: their mean approaches the exact sum as 1 / sums.
TEST_P(CollectiveTest, Int8FeedsItsErrorBack) {
  constexpr int kSums = 64;
  for (uint32_t n : {2u, 3u}) {
    auto rings = make(n, {.numbers = Numbers::Int8});
    std::vector<double> mean(3000, 0.0);
    double first_error = 0;
    const auto error = [&](const auto& of) {
      double out = 0;
      for (size_t i = 0; i < mean.size(); ++i) {
        double want = 0;
        for (uint32_t r = 0; r < n; ++r) want += static_cast<double>(value(r, i)) * (i == 0 ? 1 : 1.01);
        out = std::max(out, std::fabs(static_cast<double>(of[i]) - want));
      }
      return out;
    };
    for (int k = 0; k < kSums; ++k) {
      std::vector<std::future<std::vector<float>>> members;
      for (uint32_t r = 0; r < n; ++r)
        members.push_back(std::async(std::launch::async, [&, r] {
          std::vector<float> numbers, statistics;
          for (size_t i = 0; i < mean.size(); ++i) numbers.push_back(value(r, i) * (i == 0 ? 1.0f : 1.01f));
          Contribution own(numbers, statistics);
          EXPECT_TRUE(rings[r]->sum(own).ok());
          return numbers;
        }));
      const std::vector<float> sum = members[0].get();
      for (uint32_t r = 1; r < n; ++r) EXPECT_EQ(members[r].get(), sum) << "the same bits everywhere";
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(sum[i]) / kSums;
      if (k == 0) first_error = error(sum);
    }
    EXPECT_GT(first_error, 0.01) << "int8 is coarse";
    EXPECT_LT(error(mean), first_error / 8) << n << " members";
  }
}

// Numbers whose sum depends on the order of the additions.
std::vector<float> inexact(uint32_t rank, size_t size) {
  std::vector<float> out(size);
  for (size_t i = 0; i < size; ++i)
    out[i] = std::sin(static_cast<float>(i + 1) * static_cast<float>(rank + 1)) * 1e3f;
  return out;
}

std::vector<std::vector<float>> sums_of(Collectives& all, size_t size) {
  std::vector<std::future<std::vector<float>>> members;
  for (uint32_t r = 0; r < all.size(); ++r)
    members.push_back(std::async(std::launch::async, [&all, r, size] {
      std::vector<float> numbers = inexact(r, size);
      Contribution own(numbers, {});
      EXPECT_TRUE(all[r]->sum(own).ok());
      return numbers;
    }));
  std::vector<std::vector<float>> out;
  for (auto& member : members) out.push_back(member.get());
  return out;
}

TEST(Collectives, BothWaysGiveTheSameBits) {
  for (uint32_t n : {2u, 3u, 5u}) {
    Collectives rings = make_rings(n), direct = make_direct(n);
    const auto by_ring = sums_of(rings, 300000), directly = sums_of(direct, 300000);
    for (uint32_t r = 0; r < n; ++r) {
      EXPECT_EQ(by_ring[r], by_ring[0]) << n;
      EXPECT_EQ(directly[r], by_ring[0]) << n;
    }
  }
}

// Numbers become final in a different order and at a different time on each member.
TEST_P(CollectiveTest, ASumThatBeginsEarlyHasTheSameBits) {
  constexpr size_t kSize = 300000, kLayer = 30000;
  for (uint32_t n : {1u, 2u, 3u}) {
    auto early = make(n), late = make(n);
    const auto want = sums_of(late, kSize);
    std::vector<std::future<std::vector<float>>> members;
    for (uint32_t r = 0; r < n; ++r)
      members.push_back(std::async(std::launch::async, [&, r] {
        const std::vector<float> own_numbers = inexact(r, kSize);
        std::vector<float> numbers(kSize, 777), statistics;
        Contribution own(numbers);
        auto sum = std::async(std::launch::async, [&] { return early[r]->sum(own).status(); });
        for (size_t end = kSize; end > 0; end -= 2 * kLayer) {
          std::this_thread::sleep_for(Milliseconds(r));
          for (size_t begin : {end - 2 * kLayer, end - kLayer}) {  // the lower one first
            std::copy_n(own_numbers.begin() + static_cast<long>(begin), kLayer,
                        numbers.begin() + static_cast<long>(begin));
            own.announce(begin, begin + kLayer);
          }
        }
        statistics = {static_cast<float>(r)};
        own.complete(statistics, {.steps = 1});
        EXPECT_TRUE(sum.get().ok());
        EXPECT_EQ(statistics[0], static_cast<float>(n * (n - 1) / 2));
        return numbers;
      }));
    for (auto& member : members) EXPECT_EQ(member.get(), want[0]);
  }
}

// The first numbers travel while the last ones are computed.
TEST_P(CollectiveTest, SendsWhatIsFinalBeforeTheSumIsComplete) {
  constexpr size_t kSize = 400000, kFinal = 200000;
  auto all = make(2);
  std::vector<float> numbers[2] = {inexact(0, kSize), inexact(1, kSize)};
  Contribution first(numbers[0]), second(numbers[1]);
  auto one = std::async(std::launch::async, [&] { return all[0]->sum(first).status(); });
  auto other = std::async(std::launch::async, [&] { return all[1]->sum(second).status(); });
  first.announce(kFinal, kSize);
  second.announce(kFinal, kSize);
  const Clock::time_point end = Clock::now() + Milliseconds(5000);
  while (Clock::now() < end && all[0]->traffic().sent < (kSize - kFinal) / 2 * sizeof(float))
    std::this_thread::sleep_for(Milliseconds(1));
  EXPECT_GE(all[0]->traffic().sent, (kSize - kFinal) / 2 * sizeof(float));
  EXPECT_EQ(one.wait_for(Milliseconds(0)), std::future_status::timeout) << "its numbers are not final";
  first.complete({}, {});
  second.complete({}, {});
  EXPECT_TRUE(one.get().ok());
  EXPECT_TRUE(other.get().ok());
}

}  // namespace
}  // namespace radl::engine::cluster
