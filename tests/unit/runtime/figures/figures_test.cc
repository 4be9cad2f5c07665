// What is kept of a run, and what the next plan learns of it.
#include "runtime/figures/figures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "common/files.h"
#include "common/turn.h"
#include "runtime/figures/runs_file.h"
#include "runtime/plan/measured.h"

namespace radl {
namespace {

Action action(const std::string& id, Verb verb, std::optional<double> seconds, const std::string& node,
              const std::string& step = "") {
  Action made;
  made.id = id;
  made.verb = verb;
  made.seconds = seconds;
  made.nodes = {node};
  made.is_step = !step.empty();
  made.step_kind = step;
  made.cloud = made.is_step ? "" : "ec2:/eu-west-1";
  made.type = made.is_step ? "" : "instance";
  return made;
}

struct ARun : testing::Test {
  ARun() {
    plan.infrastructure = "site";
    plan.actions = {action("a[0]", Verb::Create, 60, "a[0]"), action("a[1]", Verb::Create, 60, "a[1]"),
                    action("a[0]/tools", Verb::Run, 5, "a[0]", "native"),
                    action("a[0]/more", Verb::Run, 7, "a[0]", "native"),
                    action("training/t", Verb::Run, {}, "a[0]", "training")};
    plan.actions.back().summary = "resnet20 on cifar10";
    plan.costs = {{"a[0]", "ec2:/eu-west-1", "ec2 m5.large", {}, Money::of(3.6)},
                  {"a[1]", "ec2:/eu-west-1", "ec2 m5.large", {}, Money::of(3.6)},
                  {"old", "ec2:/eu-west-1", "ec2 m5.large", Money::of(36), {}}};
    const double seconds[] = {80, 90, 4, 10, 300};
    for (size_t i = 0; i < plan.actions.size(); ++i) {
      ActionOutcome& outcome = report.actions.emplace_back();
      outcome.id = plan.actions[i].id;
      outcome.seconds = seconds[i];
    }
    report.seconds = 500;
    event(EventKind::RunStarted, 1000, "");
    event(EventKind::ActionStarted, 1000, "a[0]");
    event(EventKind::ActionStarted, 1100, "a[1]");
    event(EventKind::ActionStarted, 1200, "a[1]");  // a second try: it was paid for from the first one on
    event(EventKind::ActionFinished, 1010, "old");
    event(EventKind::RunFinished, 1500, "");
  }
  void event(EventKind kind, double time, const std::string& id) {
    Event one;
    one.kind = kind;
    one.time = time;
    one.id = id;
    clock.emit(one);
  }
  Plan plan;
  RunReport report;
  RunClock clock;
};

TEST_F(ARun, PhasesAreSummedByWaitingTime) {
  RunFigures figures = figures_of(plan, report, clock, {});
  EXPECT_EQ(figures.predicted.create, 60);
  EXPECT_EQ(figures.actual.create, 90);
  EXPECT_EQ(figures.predicted.configure, 12);
  EXPECT_EQ(figures.actual.configure, 14);
  EXPECT_EQ(figures.predicted.train, std::nullopt);
  EXPECT_EQ(figures.actual.train, 300);
  EXPECT_EQ(figures.actual.whole, 500);
  EXPECT_TRUE(figures.ok);
}

// An apply that is refused before its first action.
TEST_F(ARun, WithoutAnEventIsOfTheTimeAtWhichItWasBegun) {
  EXPECT_EQ(figures_of(plan, report, RunClock(1.8e9), {}).time, 1.8e9);
  EXPECT_EQ(RunClock(1.8e9).ended(), 1.8e9);
}

TEST_F(ARun, StagingIsNoConfiguringAndTeachesNothingOfOtherSteps) {
  plan.actions[3].usual_seconds = 0.05;
  RunFigures figures = figures_of(plan, report, clock, {"a[0]/more"});
  EXPECT_EQ(figures.actual.configure, 4);
  EXPECT_EQ(figures.actual.stage, 10);
  EXPECT_EQ(figures.predicted.stage, 7);
  for (const auto& [key, seconds] : figures.measured)
    EXPECT_EQ(key.find("of what is usual"), std::string::npos) << key;
  EXPECT_EQ(figures, *from_line(to_line(figures)));
}

TEST_F(ARun, CreatingLastsAsLongAsWhatWaitsForSomethingElse) {
  plan.actions[1].needs = {"a[0]"};
  EXPECT_EQ(figures_of(plan, report, clock, {}).actual.create, 80 + 90);
}

TEST_F(ARun, EachResourceCostsFromWhenItIsAskedForUntilItIsGone) {
  RunFigures figures = figures_of(plan, report, clock, {});
  // 500 s and 400 s at 3.60 an hour, and 10 s at 36.
  EXPECT_EQ(figures.cost.total()->text(), "1.00 USD");
  plan.totals.seconds_complete = false;
  EXPECT_FALSE(figures_of(plan, report, clock, {}).predicted_cost);
}

TEST_F(ARun, TheNextPlanPredictsWhatWasMeasuredOfTheSameKind) {
  RunFigures figures = figures_of(plan, report, clock, {});
  Plan next = plan;
  next.actions[0].id = next.costs[0].address = "elsewhere[7]";
  next.actions[0].nodes = next.actions[2].nodes = {"elsewhere[7]"};
  use_measured(next, measured_by({figures}));
  EXPECT_EQ(next.actions[0].seconds, 90);  // another node of the same type
  EXPECT_EQ(next.actions[2].seconds, 4 /* of tools */) << next.actions[2].id;
  next.costs[1].machine = "ec2 p3.2xlarge";
  next.actions[1].seconds = 60;
  use_measured(next, measured_by({figures}));
  EXPECT_EQ(next.actions[1].seconds, 60);  // of this type nothing was measured
}

TEST_F(ARun, AsManyAtOnceCountBeforeAnyNumberOfThem) {
  std::map<std::string, double> measured = measured_by({figures_of(plan, report, clock, {})});
  const MeasureKeys keys(plan);
  const std::string key = keys.of(plan.actions[0]);
  EXPECT_EQ(measured.at(at_once_key(key, 2)), 90);
  measured[at_once_key(key, 1)] = 50;
  Plan next = plan;
  use_measured(next, measured);
  EXPECT_EQ(next.actions[0].seconds, 90) << "two, as then";
  next.actions.erase(next.actions.begin() + 1);
  use_measured(next, measured);
  EXPECT_EQ(next.actions[0].seconds, 50) << "one alone";
  measured.erase(at_once_key(key, 1));
  use_measured(next, measured);
  EXPECT_EQ(next.actions[0].seconds, 90) << "of one alone nothing is known: any number of them";
}

TEST_F(ARun, AStepThatNeverRanIsPredictedByOthersOfItsKind) {
  plan.actions[2].usual_seconds = 2;  // took 4
  plan.actions[3].usual_seconds = 5;  // took 10
  const auto measured = measured_by({figures_of(plan, report, clock, {})});
  Plan next = plan;
  next.actions[2].id = "a[0]/unheard";
  next.actions[2].usual_seconds = 3;
  const std::string key = MeasureKeys(next).of(next.actions[2]);
  const auto known = measured_seconds(next.actions[2], key, 1, measured);
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->like_it);
  EXPECT_NEAR(known->seconds, 6, 1e-9);
  next.actions[2].usual_seconds = {};
  EXPECT_FALSE(measured_seconds(next.actions[2], key, 1, measured)) << "of a saved plan it is not known";
}

TEST_F(ARun, BandsAreLearntFromRunsOfOneCloudThatCameToTheirEnd) {
  RunFigures figures = figures_of(plan, report, clock, {});
  EXPECT_EQ(figures.cloud, "ec2");
  figures.sources = {{"create", "measured"}};
  EXPECT_EQ(figures, *from_line(to_line(figures)));
  const foresight::Banded prior = foresight::banded(100, 1.01, foresight::Source::Measured, "");
  std::vector<RunFigures> runs(4, figures);  // predicted 60, took 90
  EXPECT_NEAR(bands_by(runs).of("create", "ec2", prior).high, 150, 1e-9);
  EXPECT_EQ(bands_by(runs).of("configure", "ec2", prior).band_runs, 0u)
      << "nobody knows how it was predicted";
  runs[0].ok = false;
  EXPECT_EQ(bands_by(runs).of("create", "ec2", prior).high, prior.high);
  plan.costs[2].cloud = "gce:/x";
  EXPECT_EQ(figures_of(plan, report, clock, {}).cloud, "");
}

// `radlc profile` of a program: a short run that was ended says nothing of the whole.
TEST_F(ARun, AProgramThatWasEndedEarlyHasNoTime) {
  Action& job = plan.actions.back();
  job.id = "program/p";
  job.step_kind = "program";
  job.spec = {{"work", "5f1c"}};
  plan.costs[0].machine = "ec2:1234/eu-west-1 m5.large";
  report.actions.back().id = job.id;
  for (bool ended : {true, false}) {
    Snapshot after;
    after.steps[job.id].output = {{"seconds", 290.0}, {"ended", ended}};
    RunFigures figures = figures_of(plan, report, clock, {});
    measure_jobs(plan, report, after, figures);
    // By the kind of machine, whatever account and region it is in: as recommendations ask for it.
    EXPECT_EQ(figures.measured.contains(program_key("5f1c", 1, "ec2 m5.large")), ended);
    EXPECT_EQ(figures.measured.contains(around_key(program_key("5f1c", 1, "ec2 m5.large"))), true);
    EXPECT_EQ(measured_by({figures}).contains(at_once_key(program_key("5f1c", 1, "ec2 m5.large"), 1)), ended);
  }
}

TEST_F(ARun, WhatFailedTeachesNothing) {
  report.actions[0].state = report.actions[1].state = ActionOutcome::State::Failed;
  RunFigures figures = figures_of(plan, report, clock, {});
  EXPECT_FALSE(figures.ok);
  EXPECT_EQ(figures.actual.create, std::nullopt);
  for (const auto& [key, seconds] : figures.measured) EXPECT_FALSE(key.starts_with("create")) << key;
}

TEST_F(ARun, TheMedianOfTheNewestFiveCounts) {
  std::vector<RunFigures> runs(8);
  const double seconds[] = {1000, 1000, 1000, 50, 10, 900, 30, 40};
  for (size_t i = 0; i < runs.size(); ++i) runs[i].measured["k"] = seconds[i];
  EXPECT_EQ(measured_by(runs).at("k"), 40);
}

TEST_F(ARun, IsNotWaitedForByOneThatIsOverWhereAnotherHoldsTheFile) {
  const std::string folder = testing::TempDir() + "radl-runs-held-test", path = folder + "/runs.jsonl";
  std::filesystem::remove_all(folder);
  RunFigures figures = figures_of(plan, report, clock, {});
  ASSERT_TRUE(append_run(path, figures).ok());
  auto held = FileTurn::take(path + ".lock", {});
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(append_run(path, figures, Stop().within(std::chrono::milliseconds(100))).code(), Code::Timeout);
  StopSource asked;
  asked.request();
  EXPECT_EQ(append_run(path, figures, asked.token()).code(), Code::Cancelled);
  EXPECT_EQ(read_runs(path)->size(), 1u);
}

TEST_F(ARun, IsALineOfAFileAndBack) {
  const std::string folder = testing::TempDir() + "radl-runs-test", path = folder + "/data/runs.jsonl";
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(read_runs(path)->empty());
  RunFigures figures = figures_of(plan, report, clock, {});
  figures.directory = "/home/ana\n\xff";
  ASSERT_TRUE(append_run(path, figures).ok());
  // A line that a full disk cut short.
  ASSERT_TRUE(write_file_atomic(path, *read_file(path) + "{\"run\":1,", 0600).ok());
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) others.emplace_back([&] { EXPECT_TRUE(append_run(path, figures).ok()); });
  for (std::thread& other : others) other.join();
  size_t left_out = 0;
  auto runs = read_runs(path, &left_out);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->size(), 5u);
  EXPECT_EQ(left_out, 1u);
  EXPECT_EQ(runs->front(), figures);
  EXPECT_EQ(newest_runs(path).size(), 5u);
  EXPECT_EQ(newest_runs(path, to_line(figures).size() * 2 + 10).size(),
            2u);  // what is cut at the front is left out
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace radl
