#include "runtime/exec/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>

namespace radl {
namespace {

// Random graphs: everything runs once, after what it waits for, never two with the same name at a time.
TEST(Scheduler, KeepsOrderAndExclusionOnRandomGraphs) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    size_t size = 1 + random() % 60;
    Dag dag(size);
    for (size_t then = 1; then < size; ++then) {
      for (int i = 0; i < 2; ++i) dag.add_edge(random() % then, then);
    }
    std::mutex mutex;
    std::vector<int> ended(size, 0);
    std::vector<std::atomic<int>> held(3);
    Schedule schedule{dag,
                      std::vector<bool>(size),
                      8,
                      [](Dag::Id id) { return std::vector<std::string>{std::to_string(id % 3)}; },
                      [&](Dag::Id id) {
                        EXPECT_EQ(++held[id % 3], 1);
                        std::lock_guard guard(mutex);
                        for (Dag::Id before : dag.before(id)) EXPECT_EQ(ended[before], 1);
                        ++ended[id];
                        --held[id % 3];
                        return true;
                      },
                      [](Dag::Id, Dag::Id) { FAIL(); },
                      [] { return false; }};
    EXPECT_TRUE(run_schedule(schedule).empty());
    EXPECT_EQ(ended, std::vector<int>(size, 1));
  }
}

TEST(Scheduler, StopsAndNamesWhatNeverBegan) {
  Dag dag(4);
  dag.add_edge(0, 1);
  std::atomic<int> ran{0};
  Schedule schedule{dag,
                    std::vector<bool>(4),
                    1,
                    [](Dag::Id) { return std::vector<std::string>(); },
                    [&](Dag::Id) { return ++ran > 0; },
                    [](Dag::Id, Dag::Id) {},
                    [&] { return ran >= 2; }};
  EXPECT_EQ(run_schedule(schedule).size(), 2u);
}

}  // namespace
}  // namespace radl
