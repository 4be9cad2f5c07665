// Machines that boot hold no thread: hundreds come up in the time of one.
#include <gtest/gtest.h>

#include <iostream>

#include "runtime/clouds/simulated/simulated_cloud.h"
#include "tests/support/fault_vfs.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

// A bench on a simulated cloud in virtual time.
struct SimulatedBench : Bench {
  explicit SimulatedBench(const simulated::Faults& faults, uint64_t seed = 1) {
    simulated::Options options;
    options.seed = seed;
    options.faults = faults;
    auto made = simulated::SimulatedCloud::make(options, fake.clock);
    EXPECT_TRUE(made.ok()) << made.status().text();
    simulated_cloud = std::move(*made);
    clouds = {};
    clouds.add(*simulated_cloud);
    clouds.fallback = "simulated";
  }
  std::unique_ptr<simulated::SimulatedCloud> simulated_cloud;
};

double seconds_to_apply(int nodes, int parallelism) {
  simulated::Faults faults;
  faults.boot = 60;
  SimulatedBench bench(faults);
  bench.options.parallelism = parallelism;
  RunReport report = bench.apply(ProgramBuilder().deploy({"worker", nodes}).build());
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  return report.seconds;
}

TEST(Parked, TwoHundredMachinesAreUpInTheTimeOfOne) {
  // Times are drawn from half to one and a half of what is said: a key and a network of 6 s, then a machine
  // of 60 s that may take 90.
  const double slowest = 9 + 9 + 90;
  EXPECT_GT(seconds_to_apply(1, 10), 36);
  EXPECT_LT(seconds_to_apply(1, 10), slowest + 5);
  EXPECT_LT(seconds_to_apply(200, 10), 1.2 * slowest);
}

TEST(Parked, AreWaitedForByOneLookForAllOfThem) {
  simulated::Faults faults;
  faults.boot = 60;
  faults.page_size = 1000;
  SimulatedBench bench(faults);
  ASSERT_TRUE(bench.apply(ProgramBuilder().deploy({"worker", 200}).build()).status.ok());
  EXPECT_LT(bench.simulated_cloud->calls()["look"], 60) << "not a call for each machine";
}

TEST(Parked, WhatManyMachinesHaveToRecordIsMadeDurableTogether) {
  constexpr int kMachines = 300;
  FaultVfs vfs;
  SimulatedBench bench({});
  bench.options.parallelism = 10;
  ASSERT_TRUE(bench.apply(ProgramBuilder().deploy({"worker", kMachines}).build()).status.ok());
  EXPECT_LT(vfs.syncs(), kMachines / 5) << "an intent, an outcome and a login each";
  std::cout << vfs.syncs() << " syncs for " << kMachines << " machines\n";
  const long long before = vfs.syncs();
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_LT(vfs.syncs() - before, kMachines / 5);
  EXPECT_TRUE(bench.snapshot().resources.empty());
}

// When the first action began and failed, in virtual time.
class Failing : public EventSink {
 public:
  explicit Failing(Clock& clock) : clock_(clock) {}
  void emit(const Event& event) override {
    if (event.kind == EventKind::ActionStarted && begun == 0) begun = clock_.wall_seconds();
    if (event.kind == EventKind::ActionFailed && failed == 0) failed = clock_.wall_seconds();
  }
  double begun = 0, failed = 0;

 private:
  Clock& clock_;
};

TEST(Parked, WhatDoesNotComeIsGivenUpAtItsDeadlineAndNotAtTheNextLook) {
  simulated::Faults faults;
  faults.boot = 100'000;
  SimulatedBench bench(faults);
  Failing failing(bench.fake.clock);
  bench.sinks = {&failing};
  bench.options.create_deadline = std::chrono::milliseconds(900'300);
  EXPECT_FALSE(bench.apply(ProgramBuilder().deploy({"worker", 1}).build()).status.ok());
  EXPECT_NEAR(failing.failed - failing.begun, 900.3, 0.5) << "looks are seconds apart by then";
}

// Asks to stop as soon as a machine is in this phase.
class StopsAt : public EventSink {
 public:
  StopsAt(std::string phase, Cancellation& cancellation)
      : phase_(std::move(phase)), cancellation_(cancellation) {}
  void emit(const Event& event) override {
    if (event.kind == EventKind::NodePhase && event.data.value("phase", "") == phase_ &&
        cancellation_.level() == 0)
      cancellation_.request();
  }

 private:
  std::string phase_;
  Cancellation& cancellation_;
};

TEST(Parked, AMachineThatIsRecordedAsBegunIsNotAskedForAfterCtrlC) {
  Bench bench;
  StopsAt creating("creating", bench.cancellation);
  bench.sinks = {&creating};
  EXPECT_EQ(bench.apply(ProgramBuilder().deploy({"worker", 20}).build()).status.code(), Code::Cancelled);
  EXPECT_EQ(bench.cloud.count("node"), 0u);
  EXPECT_TRUE(bench.store()->open_intents()->empty());
}

TEST(Parked, AMachineWhoseRemovalIsRecordedStaysWholeAfterCtrlC) {
  Bench bench;
  const ir::Program program = ProgramBuilder().deploy({"worker", 20}).build();
  ASSERT_TRUE(bench.apply(program).status.ok());
  StopsAt destroying("destroying", bench.cancellation);
  bench.sinks = {&destroying};
  EXPECT_EQ(bench.destroy().status.code(), Code::Cancelled);
  EXPECT_EQ(bench.cloud.count("node"), 20u);
  EXPECT_TRUE(bench.store()->open_intents()->empty());
  EXPECT_TRUE(bench.plan(program).actions.empty()) << "no machine counts as half removed";
}

}  // namespace
}  // namespace radl::test
