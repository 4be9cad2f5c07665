// Machines that boot hold no thread: hundreds come up in the time of one.
#include <gtest/gtest.h>

#include "runtime/clouds/simulated/simulated_cloud.h"
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

}  // namespace
}  // namespace radl::test
