// From a profile to a cluster: forecasts, what runs teach them, and the recommendation.
#include "runtime/foresight/recommend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/foresight/shipped_profiles.h"

namespace radl::foresight {
namespace {

constexpr const char* kFamily = "resnet20 on cifar10";
constexpr const char* kWork = "5d1c";

MeasuredProfile profile(const std::string& machine = "ec2 c5.xlarge", double cores = 4) {
  MeasuredProfile one;
  one.family = kFamily;
  one.work = kWork;
  one.machine = machine;
  one.cores = cores;
  one.node.steps.points = {{32, 0.0495}, {128, 0.192}, {512, 0.762}};
  one.node.parameter_bytes = 1.1e6;
  one.node.spread = 0.05;
  one.memory_bytes = 2e8;
  one.memory_bytes_per_image = 1e6;
  one.taken_at = "2026-11-22T10:00:00Z";
  return one;
}

TrainingFacts facts() {
  TrainingFacts one;
  one.family = kFamily;
  one.work = {kWork, 2.5e8, 1.1e6, 1, 1e6};
  one.images = 50000;
  one.test_images = 10000;
  one.epochs = 10;
  one.batch = 128;
  return one;
}

OfferedType offer(const std::string& name, double cores, double usd, double gib = 8) {
  OfferedType one;
  one.name = name;
  one.machine = {"ec2 " + name, cores, gib * 1073741824, 1.25e9, 0, false};
  if (usd >= 0) one.per_hour = Money::of(usd);
  return one;
}

RecommendInput input() {
  RecommendInput one;
  one.facts = facts();
  one.workers = {offer("c5.xlarge", 4, 0.192), offer("c5.4xlarge", 16, 0.768)};
  one.sizes = {1, 2, 4, 8};
  one.exchanges = {Exchange::Ring, Exchange::AsyncServer};
  one.startup = banded(90, 1.5, Source::Guessed, "");
  return one;
}

WorkModel model(const Calibration& calibration) { return WorkModel(calibration, facts()); }

// Runs that take a third longer than the formulas say, each with some noise.
Calibration with_runs(int count) {
  Calibration calibration{{profile()}, {}, {}};
  for (int i = 0; i < count; ++i) {
    TrainingRun run;
    run.family = kFamily;
    run.work = kWork;
    run.work = kWork;
    run.machine = "ec2 c5.xlarge";
    run.workers = 1 + i % 4;
    run.batch = 128;
    run.analytic_seconds = 1000;
    run.seconds = 1330 * (1 + 0.02 * (i % 3 - 1));
    calibration.runs.push_back(run);
  }
  return calibration;
}

TEST(Forecast, MeasuredOnTheSameKindOfMachine) {
  const WorkModel known = model({{profile()}, {}, {}});
  auto forecast = known.forecast(facts(), offer("c5.xlarge", 4, 0.192).machine, {});
  ASSERT_TRUE(forecast.step) << forecast.unknown;
  EXPECT_EQ(forecast.train.source, Source::Measured);
  // 50,000 images by 128 in 0.192 s, and a forward pass over 10,000.
  EXPECT_NEAR(forecast.epoch.value, 50000 / 128.0 * 0.192 + 79 * 0.192 / 3, 0.01);
  EXPECT_LT(forecast.train.low, forecast.train.value);
  EXPECT_LT(forecast.train.value, forecast.train.high);
  EXPECT_NE(forecast.change_most.find("processors"), std::string::npos) << forecast.change_most;
}

TEST(Forecast, ScaledFromAnotherMachineIsWiderAndSaysSo) {
  const WorkModel known = model({{profile("local", 2)}, {}, {}});
  auto forecast = known.forecast(facts(), offer("c5.xlarge", 4, 0.192).machine, {});
  ASSERT_TRUE(forecast.step) << forecast.unknown;
  EXPECT_EQ(forecast.train.source, Source::Scaled);
  EXPECT_NE(forecast.train.from.find("scaled by cores from local (2)"), std::string::npos)
      << forecast.train.from;
  EXPECT_GT(forecast.train.high / forecast.train.value, 1.5);
}

TEST(Forecast, UnknownStaysUnknown) {
  TrainingFacts nothing = facts();
  nothing.work = {};
  auto none = WorkModel({}, nothing).forecast(nothing, offer("c5.xlarge", 4, 0.192).machine, {});
  EXPECT_FALSE(none.step);
  EXPECT_NE(none.unknown.find("no profile of resnet20 on cifar10"), std::string::npos) << none.unknown;
  TrainingFacts unknown = facts();
  unknown.images = 0;
  EXPECT_FALSE(model({{profile()}, {}, {}}).forecast(unknown, offer("c5.xlarge", 4, 0.192).machine, {}).step);
}

TEST(Forecast, WhatWasMeasuredOnOtherImagesIsScaledByTheArithmeticAndOutside) {
  MeasuredProfile small = profile();
  small.flop_per_image = 2.5e8;
  TrainingFacts large = facts();  // the same model and dataset by name, on images 49 times as large
  large.work.digest = "other";
  large.work.flop_per_image = 49 * small.flop_per_image;
  const MachineFacts machine = offer("c5.xlarge", 4, 0.192).machine;
  const auto measured = model({{small}, {}, {}}).forecast(facts(), machine, {});
  const auto scaled = WorkModel({{small}, {}, {}}, large).forecast(large, machine, {});
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

TEST(Forecast, ABatchBeyondMemoryDoesNotFit) {
  TrainingFacts large = facts();
  large.batch = 8192;
  auto forecast = model({{profile()}, {}, {}}).forecast(large, offer("c5.xlarge", 4, 0.192).machine, {});
  EXPECT_FALSE(forecast.step);
  EXPECT_TRUE(forecast.memory);
}

TEST(Forecast, EveryRunMakesTheNextOneBetter) {
  auto error_after = [](int runs) {
    const WorkModel known = model(with_runs(runs));
    auto forecast = known.forecast(facts(), offer("c5.xlarge", 4, 0.192).machine, {});
    return std::fabs(forecast.train.value / forecast.analytic_seconds / 1.33 - 1);
  };
  const double none = error_after(0), one = error_after(1), three = error_after(3), ten = error_after(10);
  EXPECT_NEAR(none, 0.248, 0.001);
  EXPECT_LT(one, none);
  EXPECT_LT(three, one);
  EXPECT_LT(ten, 0.03);
}

TEST(Forecast, TheBandNarrowsWithRunsAndWidensWithConfidence) {
  const MachineFacts machine = offer("c5.xlarge", 4, 0.192).machine;
  auto width = [&](int runs, double confidence) {
    auto forecast = model(with_runs(runs)).forecast(facts(), machine, {}, confidence);
    return forecast.train.high / forecast.train.value;
  };
  EXPECT_LT(width(20, 0.8), width(0, 0.8));
  EXPECT_LT(width(0, 0.8), width(0, 0.95));
  EXPECT_NEAR(band_width(0.8), 1.2816, 0.01);
}

TEST(Forecast, SaysWhatIsOutsideOfWhatRunsHaveSeen) {
  Calibration known{{profile()}, {}, {}};
  TrainingRun run;
  run.family = kFamily;
  run.work = kWork;
  run.machine = "ec2 c5.xlarge";
  run.exchange = exchange_name(Exchange::Ring);
  run.workers = 4;
  run.batch = 128;
  run.latency_ms = 0.4;
  run.bits_per_second = 1.25e9;
  run.analytic_seconds = run.seconds = 1000;
  known.runs = {run};
  const WorkModel model(known, facts());
  const MachineFacts machine = offer("c5.xlarge", 4, 0.192).machine;
  TrainingFacts asked = facts();
  EXPECT_EQ(model.outside(asked, machine, {}), "") << "one machine talks to nobody";
  asked.exchange = Exchange::Ring;
  asked.workers = 4;
  EXPECT_EQ(model.outside(asked, machine, {}), "");
  EXPECT_NE(model.outside(asked, machine, 0.04).find("40 ms apart"), std::string::npos);
  asked.workers = 8;
  EXPECT_NE(model.outside(asked, machine, {}).find("8 workers"), std::string::npos);
  asked.workers = 4;
  asked.batch = 4096;
  EXPECT_NE(model.outside(asked, machine, {}).find("batch of 4096"), std::string::npos);
  asked.batch = 128;
  asked.exchange = Exchange::AsyncServer;
  asked.servers = 1;
  EXPECT_NE(model.outside(asked, machine, {}).find("no run has exchanged"), std::string::npos);
  EXPECT_NE(model.forecast(asked, machine, {}).outside, "");
}

TEST(Forecast, WhatLinksFoundTakesThePlaceOfAGuess) {
  Calibration known{{profile()}, {}, {}};
  known.profiles.front().machine = "hosts";
  for (int i = 0; i < 3; ++i) {
    TrainingRun run;
    run.family = kFamily;
    run.work = kWork;
    run.work = kWork;
    run.machine = "hosts";
    run.exchange = exchange_name(Exchange::SyncServer);
    run.workers = 2;
    run.servers = 1;
    run.latency_ms = i == 1 ? 500 : 8 + i;
    run.measured_bits_per_second = 1e8;
    run.sent_bytes = 1.2e6;
    run.received_bytes = 1.1e6;
    known.runs.push_back(run);
  }
  const WorkModel model(known, facts()), ignorant({{known.profiles}, {}, {}}, facts());
  EXPECT_EQ(model.round_trip_between("hosts"), 0.01) << "the middle one";
  EXPECT_FALSE(model.round_trip_between("local"));
  EXPECT_EQ(model.counted_bytes(), (std::pair{1.2e6, 1.1e6}));
  EXPECT_FALSE(ignorant.counted_bytes());
  const MachineFacts host = {"hosts", 4, 8e9, 0, 0, false};
  TrainingFacts asked = facts();
  asked.exchange = Exchange::SyncServer;
  asked.workers = 2;
  asked.servers = 1;
  EXPECT_FALSE(ignorant.forecast(asked, host, {}).step) << "no catalogue has its network";
  const auto found = model.forecast(asked, host, {});
  ASSERT_TRUE(found.step) << found.unknown;
  EXPECT_NEAR(found.step->latency, 0.01, 1e-9);
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

TEST(Recommend, TheFastestAndTheCheapestAreOthers) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  auto fastest = recommend(asked, known);
  ASSERT_TRUE(fastest.ok() && fastest->choice.chosen);
  const Option& quick = fastest->options[*fastest->choice.chosen];
  EXPECT_EQ(asked.workers[quick.worker].name, "c5.4xlarge");
  EXPECT_EQ(quick.workers, 8);
  asked.objective = {0, 1};
  auto cheapest = recommend(asked, known);
  ASSERT_TRUE(cheapest.ok() && cheapest->choice.chosen);
  EXPECT_EQ(cheapest->options[*cheapest->choice.chosen].workers, 1);
  EXPECT_GT(cheapest->choice.frontier.size(), 1u);
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
  const Candidate &plain = made->candidates[0], &surplus = made->candidates[1];
  EXPECT_EQ(plain.seconds, surplus.seconds);
  EXPECT_NEAR(static_cast<double>(surplus.cost - plain.cost), 120000 * plain.seconds / 3600, 2);
  EXPECT_EQ(surplus.rate - plain.rate, 120000);
}

TEST(Recommend, LimitsAreKeptAndRejectedOnesSayWhy) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  asked.workers.push_back(offer("new.large", 2, -1));
  asked.workers.push_back(offer("tiny.nano", 2, 0.01, 0.25));
  asked.workers.front().quotas = {{"vCPUs", 4, 12}};
  asked.bounds.rate = 800000;
  auto made = recommend(asked, known);
  ASSERT_TRUE(made.ok() && made->choice.chosen);
  EXPECT_LE(made->candidates[*made->choice.chosen].rate, 800000);
  std::map<std::string, std::set<Verdict>> seen;
  for (size_t i = 0; i < made->options.size(); ++i)
    seen[asked.workers[made->options[i].worker].name].insert(made->candidates[i].verdict);
  EXPECT_EQ(seen["new.large"], std::set{Verdict::Unknown});
  EXPECT_EQ(seen["tiny.nano"], std::set{Verdict::Memory});
  EXPECT_TRUE(seen["c5.xlarge"].count(Verdict::Quota));
  EXPECT_TRUE(seen["c5.4xlarge"].count(Verdict::Budget));
}

TEST(Recommend, WorkersAndTheirServerCountAgainstOneQuotaTogether) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  asked.sizes = {2, 3};
  asked.workers.resize(1);
  asked.servers = {offer("c5.large", 2, 0.1)};
  asked.workers.front().quotas = {{"vCPUs", 4, 12}};
  asked.servers.front().quotas = {{"vCPUs", 2, 12}};
  auto made = recommend(asked, known);
  ASSERT_TRUE(made.ok());
  std::map<std::pair<int, bool>, Verdict> verdicts;
  for (size_t i = 0; i < made->options.size(); ++i)
    verdicts[{made->options[i].workers, made->options[i].server >= 0}] = made->candidates[i].verdict;
  EXPECT_EQ((verdicts[{2, true}]), Verdict::Fits) << "10 vCPUs";
  EXPECT_EQ((verdicts[{3, false}]), Verdict::Fits) << "12";
  EXPECT_EQ((verdicts[{3, true}]), Verdict::Quota) << "14";
  const AboveQuota above = above_quota(asked.workers.front(), 3, &asked.servers.front());
  ASSERT_NE(above.quota, nullptr);
  EXPECT_EQ(above.need, 14);
}

TEST(Recommend, AServerHasAQuotaOfItsOwn) {
  OfferedType worker = offer("c5.large", 2, 0.1), server = offer("g4dn.xlarge", 4, 0.5);
  server.quotas = {{"vCPUs of G", 4, 0}};
  EXPECT_EQ(above_quota(worker, 1000, nullptr).quota, nullptr) << "nothing is known";
  EXPECT_EQ(above_quota(worker, 1, &server).need, 4);
}

TEST(Recommend, NothingWithinLimitsNamesWhatWouldDo) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  asked.bounds = {{}, {}, 1};
  auto made = recommend(asked, known);
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->choice.chosen);
  EXPECT_EQ(made->choice.least_rate, 192000);
  EXPECT_GT(*made->choice.earliest, 90);
}

TEST(Recommend, SpotMachinesTakeLonger) {
  const WorkModel known = model({{profile()}, {}, {}});
  RecommendInput asked = input();
  auto calm = recommend(asked, known);
  asked.interruptions_per_hour = 0.2;
  auto spot = recommend(asked, known);
  ASSERT_TRUE(calm.ok() && spot.ok());
  EXPECT_GT(spot->candidates.front().seconds, calm->candidates.front().seconds);
}

TEST(Recommend, QuestionsThatAreNoneAreRefused) {
  const WorkModel known = model({{profile()}, {}, {}});
  auto refused = [&](auto change) {
    RecommendInput asked = input();
    change(asked);
    return recommend(asked, known).status().code();
  };
  EXPECT_EQ(refused([](auto& in) { in.workers.clear(); }), Code::Invalid);
  EXPECT_EQ(refused([](auto& in) { in.sizes.clear(); }), Code::Invalid);
  EXPECT_EQ(refused([](auto& in) { in.sizes = {0}; }), Code::Invalid);
  EXPECT_EQ(refused([](auto& in) { in.confidence = 1; }), Code::Invalid);
  EXPECT_EQ(refused([](auto& in) { in.objective = {NAN, 1}; }), Code::Invalid);
  EXPECT_EQ(refused([](auto& in) { in.workers[1].per_hour = Money::of(1, "EUR"); }), Code::Invalid);
}

TEST(Calibration, IsTheSameAfterItsJsonAndHasOneDigest) {
  Calibration calibration = with_runs(3);
  calibration.studies = study_rows("cifar");
  const auto json = to_json(calibration);
  auto again = calibration_from_json(json);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(to_json(*again), json);
  EXPECT_EQ(digest_of(*again), digest_of(calibration));
  calibration.runs.back().seconds += 1;
  EXPECT_NE(digest_of(*again), digest_of(calibration));
}

TEST(Calibration, WhatIsNoneIsRefused) {
  EXPECT_FALSE(calibration_from_json(nlohmann::json::array()).ok());
  auto json = to_json(with_runs(1));
  auto refused = [&](auto change) {
    auto other = json;
    change(other);
    return !calibration_from_json(other).ok();
  };
  EXPECT_TRUE(refused([](auto& j) { j["calibration"] = 2; }));
  EXPECT_TRUE(refused([](auto& j) { j["runs"][0]["seconds"] = "long"; }));
  EXPECT_TRUE(refused([](auto& j) { j["runs"][0]["workers"] = 0; }));
  EXPECT_TRUE(refused([](auto& j) { j["profiles"][0]["node"]["steps"] = nlohmann::json::array(); }));
  EXPECT_TRUE(refused([](auto& j) { j["profiles"][0]["node"]["steps"][1]["batch"] = 1; }));
  EXPECT_TRUE(refused([](auto& j) { j["profiles"][0].erase("cores"); }));
}

}  // namespace
}  // namespace radl::foresight
