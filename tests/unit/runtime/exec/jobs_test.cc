// While only jobs run, the state is unlocked for others. Each job belongs to its supervisor, which releases
// it on request or if the run was told not to stay.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/exec/lock_share.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

using State = ActionOutcome::State;
using std::chrono::milliseconds;
constexpr const char* kJob = "training/cifar";

ir::Program one_worker() {
  return ProgramBuilder()
      .deploy({"server"})
      .deploy({"worker", 1})
      .file("server", "tools", "/a", "1")
      .file("worker", "tools", "/a", "1")
      .train("server", "worker")
      .build();
}

class JobsTest : public testing::Test {
 protected:
  // Calls `then` while the training runs and nothing else does.
  void while_training(std::function<void(const StepContext&)> then) {
    bench.runner.during = [then = std::move(then)](const StepContext& context, const ir::Step& step) {
      if (step.id != kJob) return;
      for (int heard = 0; heard < 3; ++heard) context.under_way();
      then(context);
    };
  }
  static const ActionOutcome& outcome(const RunReport& report, const std::string& id) {
    for (const ActionOutcome& one : report.actions)
      if (one.id == id) return one;
    static const ActionOutcome none;
    ADD_FAILURE() << id;
    return none;
  }
  Bench bench;
};

TEST_F(JobsTest, OthersChangeTheStateWhileATrainingRuns) {
  Snapshot seen;
  while_training([&](const StepContext&) {
    std::unique_ptr<Store> other = bench.store();
    ASSERT_TRUE(other->lock("scale", milliseconds(0)).ok());
    seen = *other->snapshot();
    ASSERT_TRUE(other->commit({state_change::PutScaling{"worker", Scaling{1, {0, 1}}}}).ok());
  });
  RunReport report = bench.apply(one_worker());
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(seen.supervised.count(kJob), 1u);
  EXPECT_EQ(seen.open_intents, 0u);
  const Snapshot after = bench.snapshot();
  EXPECT_EQ(after.steps.at(kJob).status, StepStatus::Done);
  EXPECT_EQ(after.scaled.count("worker"), 1u) << "what the other run wrote stays";
  EXPECT_TRUE(after.supervised.empty());
  EXPECT_FALSE(after.interrupted());
}

TEST_F(JobsTest, ARunThatIsAtWorkBesideAJobKeepsTheLock) {
  Code code = Code::Ok;
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    if (step.id != kJob) return;
    context.under_way();  // the first word alone: something may yet begin
    code = bench.store()->lock("scale", milliseconds(0)).code();
  };
  EXPECT_TRUE(bench.apply(one_worker()).status.ok());
  EXPECT_EQ(code, Code::Conflict);
}

TEST_F(JobsTest, AnotherRunLeavesItAlone) {
  Plan other;
  Result<Recovery> recovered = internal_error("not asked");
  while_training([&](const StepContext&) {
    std::unique_ptr<Store> store = bench.store();
    ASSERT_TRUE(store->lock("apply", milliseconds(0)).ok());
    recovered = recover(bench.run(*store, nullptr));
    other = *bench.try_plan(one_worker(), *store->snapshot());
  });
  EXPECT_TRUE(bench.apply(one_worker()).status.ok());
  ASSERT_TRUE(recovered.ok()) << recovered.status().text();
  EXPECT_EQ(recovered->total(), 0u);
  EXPECT_EQ(other.find(kJob), nullptr);
  EXPECT_FALSE(other.notes.empty());
}

TEST_F(JobsTest, WhatAnotherRunRemovedIsNotWrittenAgain) {
  while_training([&](const StepContext&) {
    std::unique_ptr<Store> other = bench.store();
    ASSERT_TRUE(other->lock("apply", milliseconds(0)).ok());
    ASSERT_TRUE(other->forget_step(kJob).ok());
  });
  RunReport report = bench.apply(one_worker());
  EXPECT_EQ(outcome(report, kJob).status.code(), Code::Conflict);
  EXPECT_EQ(bench.snapshot().steps.count(kJob), 0u);
  EXPECT_FALSE(bench.snapshot().interrupted());
}

TEST_F(JobsTest, ADetachedRunLeavesTheJobRunning) {
  bench.options.detach = true;
  bool asked_early = true, asked = false;
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    if (step.id != kJob) return;
    asked_early = context.lets_go();
    for (int heard = 0; heard < 3; ++heard) context.under_way();
    asked = context.lets_go();
  };
  bench.runner.errors[kJob] = {Status(kLeftRunning, "left running")};
  RunReport report = bench.apply(one_worker());
  EXPECT_FALSE(asked_early);
  EXPECT_TRUE(asked);
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(report.left_running, std::vector<std::string>{kJob});
  EXPECT_EQ(outcome(report, kJob).state, State::Skipped);
  const Snapshot after = bench.snapshot();
  EXPECT_EQ(after.steps.at(kJob).status, StepStatus::Detached);
  EXPECT_FALSE(after.interrupted());
  const Plan next = bench.plan(one_worker());
  ASSERT_NE(next.find(kJob), nullptr);
  EXPECT_TRUE(next.find(kJob)->resume || !next.find(kJob)->joins.empty());
  bench.options.detach = false;
  bench.runner.during = [](const StepContext&, const ir::Step&) {};
  EXPECT_TRUE(bench.apply(one_worker()).status.ok());
  EXPECT_EQ(bench.snapshot().steps.at(kJob).status, StepStatus::Done);
}

TEST_F(JobsTest, AJobThatWasLeftRunningIsJoinedAlthoughWhatItWaitsForFails) {
  bench.options.detach = true;
  bench.runner.during = [](const StepContext& context, const ir::Step& step) {
    if (step.id != kJob) return;
    *context.may_run = {step.nodes.begin(), step.nodes.end()};
    while (!context.lets_go()) context.under_way();
  };
  bench.runner.errors[kJob] = {Status(kLeftRunning, "left running")};
  EXPECT_TRUE(bench.apply(one_worker()).status.ok());
  bench.options.detach = false;
  bench.runner.during = [](const StepContext&, const ir::Step&) {};
  ir::Program changed = ProgramBuilder()
                            .deploy({"server"})
                            .deploy({"worker", 1})
                            .file("server", "tools", "/a", "1")
                            .file("worker", "tools", "/a", "2")
                            .train("server", "worker")
                            .build();
  bench.runner.errors["worker[0]/tools"] = {invalid("no space left")};
  const RunReport report = bench.apply(changed);
  EXPECT_EQ(outcome(report, "worker[0]/tools").state, State::Failed);
  EXPECT_EQ(outcome(report, kJob).state, State::Done);
}

TEST_F(JobsTest, ARunThatLostItsLeaseWritesNothing) {
  std::unique_ptr<Store> other = bench.store();
  std::thread taker;
  std::unique_ptr<JobLease> taken;
  while_training([&](const StepContext& context) {
    taker = std::thread([&] { taken = std::move(*other->lease_job(kJob, "destroy", true, Stop())); });
    while (!context.lets_go()) std::this_thread::sleep_for(milliseconds(2));
  });
  bench.runner.errors[kJob] = {Status(kLeftRunning, "left running")};
  RunReport report = bench.apply(one_worker());
  taker.join();
  ASSERT_TRUE(taken);
  EXPECT_EQ(outcome(report, kJob).status.code(), Code::Conflict);
  EXPECT_TRUE(report.left_running.empty());
  EXPECT_EQ(bench.snapshot().steps.at(kJob).status, StepStatus::Interrupted);
  taken.reset();
  EXPECT_TRUE(bench.snapshot().interrupted()) << "the next run looks it up";
}

TEST_F(JobsTest, DestroyTakesTheJobFromItsSupervisor) {
  RunReport destroyed;
  std::thread destroyer;
  while_training([&](const StepContext& context) {
    destroyer = std::thread([&] { destroyed = bench.destroy(); });
    while (!context.lets_go()) std::this_thread::sleep_for(milliseconds(2));
  });
  bench.runner.errors[kJob] = {Status(kLeftRunning, "left running")};
  RunReport report = bench.apply(one_worker());
  destroyer.join();
  EXPECT_TRUE(destroyed.status.ok()) << destroyed.status.text();
  EXPECT_FALSE(report.status.ok());
  EXPECT_TRUE(bench.snapshot().resources.empty());
  EXPECT_FALSE(bench.snapshot().interrupted());
}

// What is recorded is recorded before a node is told that it was brought back.
TEST_F(JobsTest, AnOutcomeIsRecordedBeforeItCountsAsCollected) {
  StepStatus recorded = StepStatus::Failed;
  bench.runner.recorded = [&](const ir::Step& step) {
    if (step.id == kJob) recorded = bench.snapshot().steps.at(kJob).status;
  };
  EXPECT_TRUE(bench.apply(one_worker()).status.ok());
  EXPECT_EQ(recorded, StepStatus::Done);
}

TEST_F(JobsTest, AFailureOfTheSameCodeLeavesNoJobRunning) {
  bench.runner.errors[kJob] = {Status(kLeftRunning, "HTTP 409 for its results")};
  RunReport report = bench.apply(one_worker());
  EXPECT_FALSE(report.status.ok());
  EXPECT_EQ(outcome(report, kJob).state, State::Failed);
  EXPECT_TRUE(report.left_running.empty());
  EXPECT_EQ(bench.snapshot().steps.at(kJob).status, StepStatus::Failed);
}

TEST_F(JobsTest, WhatAKilledRunMayHaveCreatedIsNotCreatedAgain) {
  bench.options.on_error = OnError::Retry;
  bench.cloud.fail_next({"create", "extra[0]", Status(Code::Quota, "full just now")});
  while_training([&](const StepContext& context) {
    std::unique_ptr<Store> killed = bench.store();
    // The run keeps the lock until its first attempt to create extra[0] has failed.
    for (int i = 0; i < 5000 && !killed->lock("apply", milliseconds(0)).ok(); ++i) {
      std::this_thread::sleep_for(milliseconds(1));
      context.under_way();
    }
    Intent theirs;
    theirs.address = theirs.resource.address = "extra[0]";
    theirs.token = "theirs";
    ASSERT_TRUE(killed->begin(theirs).ok());
  });
  RunReport report = bench.apply(ProgramBuilder()
                                     .deploy({"server"})
                                     .deploy({"worker", 1})
                                     .deploy({"extra", 1})
                                     .train("server", "worker")
                                     .build());
  EXPECT_EQ(outcome(report, kJob).state, State::Done);
  EXPECT_EQ(outcome(report, "extra[0]").status.code(), Code::Conflict);
  EXPECT_EQ(bench.snapshot().resources.count("extra[0]"), 0u);
}

// A run that has given its lock back, as one job of it runs by itself.
class LockShareTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(own->lock("apply", milliseconds(0)).ok());
    ASSERT_TRUE(share.enter(Stop()).ok());
    while (!share.given_back()) share.runs(job);
  }
  Bench bench;
  std::unique_ptr<Store> own = bench.store(), other = bench.store();
  std::atomic<bool> waits{false};
  Status read;
  LockShare share{own.get(), "apply", [this](const LockInfo&) { waits = true; }, [this] { return read; }};
  LockShare::Job job;
};

TEST_F(LockShareTest, AJobCanBeLetGoOfWhileAnActionWaits) {
  ASSERT_TRUE(other->lock("destroy", milliseconds(0)).ok());
  StopSource stop;
  Status entered;
  std::thread action([&] { entered = share.enter(stop.token()); });
  while (!waits) std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(share.ends(job, Stop::when([] { return true; })).code(), Code::Cancelled);
  share.forget(job);
  stop.request();
  action.join();
  EXPECT_EQ(entered.code(), Code::Cancelled) << "the first request ends its wait";
  EXPECT_TRUE(share.given_back());
}

TEST_F(LockShareTest, AStateThatCannotBeReadIsNotTaken) {
  read = Status(Code::Lost, "the bucket does not answer");
  EXPECT_EQ(share.enter(Stop()).code(), Code::Lost);
  EXPECT_TRUE(share.given_back());
  EXPECT_TRUE(other->lock("apply", milliseconds(0)).ok()) << "the lock is free";
  other->unlock();
  read = {};
  EXPECT_TRUE(share.enter(Stop()).ok());
  EXPECT_FALSE(share.given_back());
}

}  // namespace
}  // namespace radl::test
