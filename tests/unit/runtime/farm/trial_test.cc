// Whole farms against machines that fail, as `radlc test` plays them. RADL_LONG_TESTS=1: a thousand of them,
// killed at every step.
#include "runtime/farm/trial.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace radl::farm {
namespace {

const bool kLong = std::getenv("RADL_LONG_TESTS") != nullptr;

// Tasks of different sizes, of ten minutes on average.
FarmSettings settings(size_t tasks, bool known) {
  FarmSettings made;
  for (size_t i = 0; i < tasks; ++i) {
    const Resources needs{i % 3 == 0 ? 2000 : 1000, 0, 0, 0};
    made.tasks.push_back(
        {"t" + std::to_string(i), needs, known ? 300.0 + 60 * (i % 11) : 0, {{"command", "x"}}});
  }
  return made;
}

TrialQuestion question(const FarmSettings& settings, uint64_t seed, bool elastic = true) {
  TrialQuestion asked{settings};
  asked.offered = {2000, 0, 0, 0};
  asked.most = 6;
  asked.elastic = elastic;
  asked.seed = seed;
  return asked;
}

TEST(FarmTrial, EachOutputOnceAndTheCostWithinItsBandInFourOfFiveRuns) {
  const size_t runs = kLong ? 1000 : 30;
  const FarmSettings known = settings(24, true);
  TrialOutcome all;
  size_t within = 0;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    const TrialOutcome one = try_farm(question(known, seed));
    EXPECT_EQ(one.wrong, "") << "seed " << seed;
    ASSERT_GT(one.predicted_high, 0);
    within += one.within_band() ? 1 : 0;
    all.kills += one.kills;
    all.preemptions += one.preemptions;
    all.lost += one.lost;
    all.refused += one.refused;
    all.quarantined += one.quarantined;
  }
  EXPECT_GE(within * 10, runs * 8) << within << " of " << runs;
  for (const size_t happened : {all.kills, all.preemptions, all.lost, all.refused, all.quarantined})
    EXPECT_GT(happened, 0u);
}

TEST(FarmTrial, UnknownLengthsAndFixedNodesKeepEachOutputOnceToo) {
  for (uint64_t seed = 1; seed <= (kLong ? 300u : 6u); ++seed) {
    EXPECT_EQ(try_farm(question(settings(18, false), seed)).wrong, "") << "seed " << seed;
    EXPECT_EQ(try_farm(question(settings(18, true), seed, false)).wrong, "") << "seed " << seed;
  }
}

TEST(FarmTrial, ASchedulerThatIsKilledAtAStepOfItsJournalLosesAndDoublesNothing) {
  const FarmSettings few = settings(8, true);
  for (uint64_t seed : {3u, 4u}) {
    TrialQuestion asked = question(few, seed);
    asked.kill_at = 0;  // never
    const size_t events = try_farm(asked).events;
    ASSERT_GT(events, 30u);
    for (size_t step = 12; step <= events; step += kLong ? 1 : 9) {
      asked.kill_at = step;
      EXPECT_EQ(try_farm(asked).wrong, "") << "seed " << seed << ", step " << step;
    }
  }
}

TEST(FarmTrial, WithoutFaultsTheCostIsWithinItsBand) {
  const FarmSettings known = settings(24, true);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    TrialQuestion asked = question(known, seed);
    asked.faults = false;
    const TrialOutcome one = try_farm(asked);
    EXPECT_EQ(one.wrong, "");
    EXPECT_EQ(one.preemptions + one.kills + one.lost, 0u);
    EXPECT_TRUE(one.within_band()) << one.predicted_low << " " << one.node_seconds << " "
                                   << one.predicted_high;
  }
}

}  // namespace
}  // namespace radl::farm
