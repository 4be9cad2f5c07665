// From a profile to a cluster: forecasts, what runs teach them, and the recommendation.
#include "runtime/foresight/recommend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/runtime/foresight/questions.h"

namespace radl::foresight {
namespace {

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
  EXPECT_NE(forecast.train.from.find("scaled from local (2 cores)"), std::string::npos)
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
