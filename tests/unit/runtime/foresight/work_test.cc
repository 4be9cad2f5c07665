// What a profile and a run count for, what stands in where nothing was measured, and CPU credits.
#include <gtest/gtest.h>

#include "runtime/foresight/shipped_profiles.h"
#include "tests/unit/runtime/foresight/questions.h"

namespace radl::foresight {
namespace {

TEST(Forecast, WhatWasMeasuredOnOtherImagesIsScaledByTheArithmeticAndOutside) {
  MeasuredProfile small = profile();
  small.flop_per_image = 2.5e8;
  TrainingFacts large = facts();  // the same model and dataset by name, on images 49 times as large
  large.work.digest = "other";
  large.work.flop_per_image = 49 * small.flop_per_image;
  const MachineFacts machine = offer("c5.xlarge", 4, 0.192).machine;
  const auto measured = model({{small}, {}, {}}).forecast(facts(), machine, {});
  const auto scaled = WorkModel({{small}, {}, {}}, large, {}).forecast(large, machine, {});
  ASSERT_TRUE(scaled.step) << scaled.unknown;
  EXPECT_EQ(measured.train.source, Source::Measured);
  EXPECT_EQ(measured.outside, "");
  EXPECT_EQ(scaled.train.source, Source::Guessed);
  EXPECT_NE(scaled.outside, "");
  EXPECT_NEAR(scaled.train.value / measured.train.value, 49, 0.01);
  EXPECT_GT(scaled.train.high / scaled.train.value, 1.5);
}

TEST(Forecast, RunsOfOtherWorkTeachNothing) {
  Calibration known = with_runs(10);
  for (TrainingRun& run : known.runs) run.work = "other";
  const auto forecast = model(known).forecast(facts(), offer("c5.xlarge", 4, 0.192).machine, {});
  EXPECT_EQ(forecast.train.value, forecast.analytic_seconds);
  EXPECT_TRUE(model(known).runs().empty());
}

TEST(Forecast, AProfileOfAnEarlierRadlcDoesNotSayWhatItMeasured) {
  MeasuredProfile old = profile();
  old.work = "";
  old.flop_per_image = 2.5e8;
  const auto forecast = model({{old}, {}, {}}).forecast(facts(), offer("c5.xlarge", 4, 0.192).machine, {});
  EXPECT_EQ(forecast.train.source, Source::Guessed);
  EXPECT_NE(forecast.outside, "");
}

TEST(Forecast, ABatchBeyondTheMeasuredOnesIsOutside) {
  const MachineFacts machine = offer("c5.xlarge", 4, 0.192).machine;
  auto at = [&](double batch) {
    TrainingFacts asked = facts();
    asked.batch = batch;
    return model({{profile()}, {}, {}}).forecast(asked, machine, {});
  };
  for (double inside : {32.0, 100.0, 512.0}) {
    EXPECT_EQ(at(inside).train.source, Source::Measured) << inside;
    EXPECT_EQ(at(inside).outside, "") << inside;
  }
  for (double beyond : {16.0, 1024.0}) {
    EXPECT_EQ(at(beyond).train.source, Source::Scaled) << beyond;
    EXPECT_NE(at(beyond).outside.find("never measured"), std::string::npos) << beyond;
    EXPECT_GT(at(beyond).train.high / at(beyond).train.value, at(512).train.high / at(512).train.value);
  }
}

TEST(Forecast, ARunOfTheSameClusterCountsAtOnce) {
  TrainingRun run;
  run.family = kFamily;
  run.work = kWork;
  run.machine = "ec2 c5.xlarge";
  run.exchange = exchange_name(Exchange::Alone);
  run.batch = 128;
  run.epochs = 2;
  run.images = 25000;
  run.seconds = 100;
  const MachineFacts machine = offer("c5.xlarge", 4, 0.192).machine;
  const auto first = model({{}, {run}, {}}).forecast(facts(), machine, {});
  EXPECT_EQ(first.train.source, Source::Measured) << first.unknown;
  EXPECT_NEAR(first.train.value, 10 * 2 * 50, 1e-6) << "ten epochs of twice the images";
  EXPECT_EQ(first.outside, "");
  const auto more = model({{}, {run, run, run, run}, {}}).forecast(facts(), machine, {});
  EXPECT_LT(more.train.high, first.train.high);
  TrainingFacts other = facts();
  other.batch = 64;
  const WorkModel ran = model({{}, {run}, {}});
  EXPECT_NE(ran.forecast(other, machine, {}).train.source, Source::Measured) << "another batch";
  EXPECT_NE(ran.forecast(facts(), offer("c5.large", 2, 0.1).machine, {}).train.source, Source::Measured);
  auto recommended = recommend(input(), model({{profile()}, {run}, {}}));
  ASSERT_TRUE(recommended.ok());
  EXPECT_NEAR(recommended->candidates.front().seconds, 1000 + 90, 1e-6) << "1xc5.xlarge/alone";
}

// Each profile that comes with radlc, as if it had not been measured, from the others alone.
TEST(Shipped, BandsOfWorkThatWasNeverMeasuredHoldOnModelsLeftOut) {
  const std::vector<MeasuredProfile>& shipped = shipped_profiles();
  ASSERT_GE(shipped.size(), 10u);
  int within = 0, all = 0;
  for (const MeasuredProfile& left_out : shipped) {
    TrainingFacts asked;
    asked.family = left_out.family;
    asked.work = {"never measured", left_out.flop_per_image, left_out.node.parameter_bytes,
                  left_out.convolved, 0};
    asked.images = 1000;
    Calibration others;
    for (const MeasuredProfile& one : shipped)
      if (one.family != left_out.family) others.profiles.push_back(one);
    const WorkModel known(others, asked, {});
    for (const StepLine::Point& point : left_out.node.steps.points) {
      asked.batch = point.batch;
      const auto said =
          known.forecast(asked, {left_out.machine, 1, 0, 0, 0, false, left_out.core_peak}, {}).train;
      ASSERT_EQ(said.source, Source::Guessed);
      const double actual = asked.images / point.batch * point.seconds;
      within += said.low <= actual && actual <= said.high ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(within, 0.8 * all) << within << " of " << all;
}

OfferedType burstable_offer(const std::string& name, double usd) {
  OfferedType one = offer(name, 4, usd);
  one.machine.credits.baseline = 0.2;
  one.machine.credits.launch_seconds = 4 * 30 * 60;
  return one;
}

TEST(Credits, WithoutThemAMachineComputesAtItsBaseline) {
  const WorkModel known = model({{profile()}, {}, {}});
  const MachineFacts full = offer("c5.xlarge", 4, 0.192).machine;
  MachineFacts bursts = full;
  bursts.credits.baseline = 0.2;
  const double all = known.forecast(facts(), full, {}).train.value;
  EXPECT_NEAR(known.forecast(facts(), bursts, {}).train.value, 5 * all, 1e-6) << "no credits at all";
  bursts.credits.launch_seconds = 4 * 0.8 * all / 2;
  EXPECT_NEAR(known.forecast(facts(), bursts, {}).train.value, all / 2 + 5 * all / 2, 1e-6);
  bursts.credits.launch_seconds *= 2;
  EXPECT_NEAR(known.forecast(facts(), bursts, {}).train.value, all, 1e-6) << "they last";
  bursts.credits = {0.2, 0, false, 200000};
  EXPECT_NEAR(known.forecast(facts(), bursts, {}).train.value, all, 1e-6) << "it is paid for";
}

TEST(Credits, ABurstableTypeIsTakenOnlyWhereNoSustainedOneFits) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  asked.objective = {0, 1};
  asked.workers = {burstable_offer("t3a.micro", 0.0001), offer("c5.xlarge", 4, 0.192)};
  auto name = [&](const Recommendation& made) {
    return asked.workers[made.options[*made.choice.chosen].worker].name;
  };
  auto made = recommend(asked, known);
  ASSERT_TRUE(made.ok() && made->choice.chosen);
  EXPECT_EQ(name(*made), "c5.xlarge");
  asked.bounds.rate = 1000;
  made = recommend(asked, known);
  ASSERT_TRUE(made.ok() && made->choice.chosen);
  EXPECT_EQ(name(*made), "t3a.micro") << "the only one within the budget";
  asked.bounds.rate = {};
  asked.prefer_sustained = false;
  made = recommend(asked, known);
  ASSERT_TRUE(made.ok() && made->choice.chosen);
  EXPECT_EQ(name(*made), "t3a.micro") << "it was asked for by name";
}

TEST(Credits, TheSurplusIsPartOfTheCost) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  asked.workers = {offer("c5.xlarge", 4, 0.1), offer("t3.xlarge", 4, 0.1)};
  asked.workers[1].machine.credits = {0.4, 0, false, 120000};
  asked.sizes = {1};
  asked.startup = banded(0, 1, Source::Measured, "");
  auto made = recommend(asked, known);
  ASSERT_TRUE(made.ok());
  const Candidate &plain = made->candidates[0], &surplus = made->candidates[made->candidates.size() / 2];
  EXPECT_EQ(plain.seconds, surplus.seconds);
  EXPECT_NEAR(static_cast<double>(surplus.cost - plain.cost), 120000 * plain.seconds / 3600, 2);
  EXPECT_EQ(surplus.rate - plain.rate, 120000);
}

}  // namespace
}  // namespace radl::foresight
