// One stop for all that an apply waits for: Ctrl-C, and the time that a file allows.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "runtime/trial/watched_store.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

ir::Program server_and_worker() {
  return ProgramBuilder()
      .deploy({"server"})
      .deploy({"worker"})
      .file("worker", "app", "/a", "1")
      .train("server", "worker")
      .build();
}

TEST(Stops, ABootIsWaitedForUntilCtrlC) {
  Bench bench;
  std::atomic<int> logins{0};
  bench.connector = [&](const ir::Node&, const Json&, const Context&) -> Result<std::unique_ptr<Remote>> {
    if (++logins == 3) bench.cancellation.request();
    return Status(Code::Timeout, "no answer");
  };
  bench.options.parallelism = 1;
  RunReport report = bench.apply(server_and_worker());
  EXPECT_EQ(report.status.code(), Code::Cancelled);
  EXPECT_LE(logins, 4);
  EXPECT_LT(bench.fake.clock.passed(), 5000) << "a boot may take five minutes";
  for (const auto& [address, record] : bench.snapshot().resources)
    EXPECT_EQ(record.status, ResourceStatus::Ready) << address << " is no dead machine";
}

TEST(Stops, AWaitBetweenTwoAttemptsEndsWithCtrlC) {
  Bench bench;
  bench.options.first_wait = bench.options.longest_wait = std::chrono::hours(1);
  bench.runner.errors["worker[0]/app"] = {Status(Code::Lost, "connection lost")};
  bench.runner.during = [&](const StepContext&, const ir::Step& step) {
    if (step.id == "worker[0]/app") bench.cancellation.request();
  };
  EXPECT_EQ(bench.apply(server_and_worker()).status.code(), Code::Cancelled);
  EXPECT_LT(bench.fake.clock.passed(), 60000);
}

TEST(Stops, MaxTimeBindsEveryStepButTrainings) {
  Bench bench;
  ir::Program program = server_and_worker();
  program.max_time_seconds = 30;
  std::mutex mutex;
  std::map<std::string, std::chrono::steady_clock::time_point> ends;
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    std::lock_guard guard(mutex);
    ends[step.id] = context.context->stop.deadline();
  };
  const auto begun = bench.fake.clock.now();
  ASSERT_TRUE(bench.apply(program).status.ok());
  EXPECT_GE(ends.at("worker[0]/app"), begun + std::chrono::seconds(30));
  EXPECT_LE(ends.at("worker[0]/app"), bench.fake.clock.now() + std::chrono::seconds(30));
  EXPECT_EQ(ends.at("training/cifar"), Stop::TimePoint::max());
}

TEST(Stops, WhatTookAllItsTimeIsNotTriedAgain) {
  Bench bench;
  ir::Program program = server_and_worker();
  program.max_time_seconds = 30;
  bench.runner.during = [&](const StepContext&, const ir::Step& step) {
    if (step.id == "worker[0]/app") bench.fake.clock.sleep(std::chrono::seconds(31));
  };
  bench.runner.errors["worker[0]/app"] = {Status(Code::Timeout, "the time allowed is over"),
                                          Status(Code::Timeout, "again")};
  RunReport report = bench.apply(program);
  EXPECT_EQ(report.status.message(), "worker[0]/app: the time allowed is over");
}

// A store whose lock another run takes right after this one has recorded what it is about to make.
class LosingStore : public WatchedStore {
 public:
  LosingStore(std::unique_ptr<Store> store, const std::string& at)
      : WatchedStore(std::move(store), [this, at](const std::string& what) {
          if (what.find(at) != what.npos && !what.starts_with("journal: before")) lost_ = true;
        }) {}
  Status still_held() override {
    return lost_ ? Status(Code::Conflict, "the state's lock was taken over from this run") : Status();
  }
  Stop lost() override {
    return Stop::when([this] { return lost_.load(); });
  }

 private:
  std::atomic<bool> lost_{false};
};

TEST(Stops, WithoutTheLockOfItsStateARunAsksForNothingMore) {
  Bench bench;
  const ir::Program program = server_and_worker();
  LosingStore store(bench.store(), "begin create worker[0]");
  ASSERT_TRUE(store.lock("apply", std::chrono::milliseconds(0)).ok());
  const Plan plan = bench.plan(program);
  const RunReport report = radl::apply(bench.run(store, &program), plan);
  EXPECT_EQ(report.status.message(), "the state's lock was taken over from this run");
  EXPECT_EQ(report.lost_lock.message(), report.status.message());
  Query all;
  all.everything = true;
  Context context{.environment = environment_of_process()};
  context.infrastructure = infrastructure_tag("demo", store.snapshot()->lineage);
  auto there = bench.cloud.look(context, all);
  ASSERT_TRUE(there.ok());
  EXPECT_FALSE(there->empty()) << "its key and network were made before";
  for (const Seen& one : *there) EXPECT_NE(one.address, "worker[0]");
}

}  // namespace
}  // namespace radl::test
