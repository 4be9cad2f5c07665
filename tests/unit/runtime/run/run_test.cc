// A run driven by a program instead of a command line: numbered events, followed and replayed; listeners
// cannot block it; a stop reaches everything.
#include "runtime/run/run.h"

#include <gtest/gtest.h>

#include "runtime/run/planning.h"
#include "runtime/run/subscription.h"
#include "tests/support/fake_cloud.h"
#include "tests/support/runtime_bench.h"
#include "tests/support/wait_until.h"

namespace radl::test {
namespace {

class RunTest : public testing::Test {
 protected:
  RunTest()
      : program(
            ProgramBuilder().deploy({"server"}).deploy({"worker"}).file("worker", "app", "/a", "1").build()) {
  }

  std::unique_ptr<ActiveRun> begin(const char* command = "apply") {
    auto run = ActiveRun::begin(
        bench.parts(&program),
        {bench.folder.path() + "/.radl", "demo", OpenMode::Create, command, std::chrono::milliseconds(0), {}},
        bench.cancellation);
    EXPECT_TRUE(run.ok()) << run.status().text();
    return run.ok() ? std::move(*run) : nullptr;
  }
  PlanQuestion question() {
    PlanQuestion question;
    question.program = &program;
    question.secrets = &bench.secrets;
    question.clouds = &bench.clouds;
    question.catalog = &bench.catalog;
    question.world = &bench.fake.world;
    return question;
  }
  std::vector<Event> kept(ActiveRun& run, unsigned long long from = 1) {
    auto found = find_run(run.store().run_directory(), run.id());
    EXPECT_TRUE(found.ok()) << found.status().text();
    std::vector<Event> events;
    if (!found.ok()) return events;
    auto reader = std::move(*EventReader::open(found->path, from));
    for (auto event = reader->next(); event.ok() && *event; event = reader->next())
      events.push_back(std::move(**event));
    return events;
  }

  Bench bench;
  ir::Program program;
};

TEST_F(RunTest, PlansAppliesAndKeepsEveryEventWithItsNumber) {
  auto run = begin();
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->recover().ok());
  auto plan = run->plan(question());
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  RunReport report = run->apply(*plan);
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  for (const ListenerEnd& end : run->close(Stop())) EXPECT_TRUE(end.status.ok() && end.lost == 0);
  std::vector<Event> events = kept(*run);
  ASSERT_EQ(events.size(), run->events().last());
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].sequence, i + 1);
  EXPECT_EQ(events.front().kind, EventKind::RunStarted);
  EXPECT_EQ(events.back().kind, EventKind::RunFinished);
  EXPECT_EQ(kept(*run, events.size()).size(), 1u) << "from a number on";
  auto again = begin();
  auto nothing = again->plan(question());
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->changes_anything());
}

TEST_F(RunTest, EachCloudIsAskedAboutItsOwnNodesAlone) {
  FakeCloud here("here"), there("there");
  CloudSet clouds;
  clouds.add(here);
  clouds.add(there);
  program.nodes[0].cloud = "here";
  program.nodes[1].cloud = "there";
  PlanQuestion asked = question();
  asked.clouds = &clouds;
  std::map<std::string, std::string> failed;
  const auto surveys = survey_clouds(asked, program, Snapshot(), bench.folder.path(), failed);
  ASSERT_TRUE(surveys.ok()) << surveys.status().text();
  EXPECT_EQ(surveys->size(), 2u);
  EXPECT_EQ(failed, (std::map<std::string, std::string>()));
  EXPECT_EQ(here.asked_of, std::vector<std::string>{program.nodes[0].address});
  EXPECT_EQ(there.asked_of, std::vector<std::string>{program.nodes[1].address});
}

TEST_F(RunTest, APlanEndsWhenSomebodyAsksToStop) {
  auto run = begin();
  bench.cancellation.request();
  for (bool refresh : {false, true}) {
    PlanQuestion asked = question();
    asked.refresh = refresh;
    EXPECT_EQ(run->plan(asked).status().code(), Code::Cancelled);
  }
}

TEST_F(RunTest, WhatAnInterruptedRunLeftIsLookedUpUnderTheNewRunsName) {
  {
    auto store = bench.store();
    ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
    Intent intent;
    intent.kind = Intent::Kind::Run;
    intent.address = "worker[0]/app";
    ASSERT_TRUE(store->begin(intent).ok());
  }
  auto run = begin();
  auto recovered = run->recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().text();
  EXPECT_EQ(recovered->closed, 1u);
  (void)run->close(Stop());
  std::vector<Event> events = kept(*run);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::Recovered);
  EXPECT_EQ(events[0].run, run->id());
}

TEST_F(RunTest, AnotherRunMeetsItsLockAndSaysWhoHasIt) {
  auto run = begin();
  auto other = ActiveRun::begin(
      bench.parts(&program),
      {bench.folder.path() + "/.radl", "demo", OpenMode::Create, "destroy", std::chrono::milliseconds(0), {}},
      bench.cancellation);
  EXPECT_EQ(other.status().code(), Code::Conflict);
  EXPECT_NE(other.status().message().find("apply by"), std::string::npos);
  (void)run->close(Stop());
  EXPECT_TRUE(begin("destroy")) << "the lock goes with the run";
}

TEST_F(RunTest, WhoWaitsForALockIsStopped) {
  auto run = begin();
  Cancellation stop;
  auto other = ActiveRun::begin(bench.parts(&program),
                                {bench.folder.path() + "/.radl", "demo", OpenMode::Create, "apply",
                                 std::chrono::hours(1), [&](const LockInfo&) { stop.request(); }},
                                stop);
  EXPECT_EQ(other.status().code(), Code::Cancelled);
}

TEST_F(RunTest, AStopIsAnEventAtOnceAndTheRunEndsWell) {
  program = ProgramBuilder()
                .deploy({"worker"})
                .file("worker", "app", "/a", "1")
                .file("worker", "later", "/b", "2")
                .build();
  bench.runner.during = [&](const StepContext&, const ir::Step&) { bench.cancellation.request(); };
  auto run = begin();
  auto plan = run->plan(question());
  ASSERT_TRUE(plan.ok());
  RunReport report = run->apply(*plan);
  EXPECT_EQ(report.status.code(), Code::Cancelled);
  (void)run->close(Stop());
  auto found = find_run(run->store().run_directory(), run->id());
  EXPECT_EQ(found->state, KeptRun::State::Failed);
  EXPECT_EQ(found->code, "cancelled");
}

TEST_F(RunTest, AStopThatComesWhenNothingIsLeftToDoIsNoFailure) {
  program = ProgramBuilder().deploy({"worker"}).file("worker", "app", "/a", "1").build();
  bench.runner.during = [&](const StepContext&, const ir::Step&) { bench.cancellation.request(); };
  auto run = begin();
  auto plan = run->plan(question());
  ASSERT_TRUE(plan.ok());
  RunReport report = run->apply(*plan);
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  for (const ActionOutcome& one : report.actions) EXPECT_EQ(one.state, ActionOutcome::State::Done) << one.id;
}

TEST_F(RunTest, ARunThatDestroysItselfCanBeFollowedToItsEnd) {
  ASSERT_TRUE(bench.apply(program).status.ok());
  auto run = begin("destroy");
  auto plan = make_destroy_plan(*run->snapshot());
  RunReport report = run->destroy(plan);
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  (void)run->close(Stop());
  auto found = find_run(run->store().run_directory(), "");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->command, "destroy");
  EXPECT_EQ(found->state, KeptRun::State::Done);
  auto reader = std::move(*EventReader::open(found->path));
  run.reset();
  ASSERT_TRUE(remove_state(bench.folder.path() + "/.radl", "demo", bench.fake.world).ok());
  size_t events = 0;
  for (auto event = reader->next(); event.ok() && *event; event = reader->next()) ++events;
  EXPECT_GT(events, 2u);
  EXPECT_TRUE(reader->over());
}

std::vector<std::pair<std::string, unsigned long long>> all_of(RunSubscription& events) {
  std::vector<std::pair<std::string, unsigned long long>> numbers;
  for (auto event = events.next(); event.ok() && *event; event = events.next())
    numbers.emplace_back((*event)->run, (*event)->sequence);
  return numbers;
}

TEST_F(RunTest, ASubscriptionGivesAllRunsThatGoOnAndThoseThatBegin) {
  auto first = begin();
  const std::string folder = first->store().run_directory();
  Event event;
  first->events().emit(event);
  ASSERT_TRUE(wait_until([&] { return kept_runs(folder)->size() == 1; }));
  auto events = std::move(*RunSubscription::open(folder, {}));
  ASSERT_TRUE(wait_until([&] { return !all_of(*events).empty(); }));
  EXPECT_FALSE(events->over());
  first->store().unlock();  // as beside a job
  auto second = begin("scale");
  second->events().emit(event);
  first->events().emit(event);
  (void)second->close(Stop());
  (void)first->close(Stop());
  std::map<std::string, unsigned long long> last;
  for (const auto& [run, number] : all_of(*events)) {
    EXPECT_GT(number, last[run]) << "in the order of its run";
    last[run] = number;
  }
  EXPECT_EQ(last, (std::map<std::string, unsigned long long>{{first->id(), 2}, {second->id(), 1}}));
  EXPECT_TRUE(events->over());
}

TEST_F(RunTest, ASubscriptionOfARunBeginsAtANumberAndEndsWithIt) {
  auto run = begin();
  const std::string folder = run->store().run_directory();
  for (int i = 0; i < 3; ++i) run->events().emit(Event());
  (void)run->close(Stop());
  auto events = std::move(*RunSubscription::open(folder, {run->id(), 3}));
  auto only = events->wait(Stop());
  ASSERT_TRUE(only.ok() && *only);
  EXPECT_EQ((*only)->sequence, 3u);
  EXPECT_FALSE(*events->wait(Stop())) << "nothing more will come";
  EXPECT_TRUE(events->over());
  EXPECT_EQ(RunSubscription::open(folder, {"none", 1}).status().code(), Code::NotFound);
}

}  // namespace
}  // namespace radl::test
