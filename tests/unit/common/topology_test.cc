#include "common/topology.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

using Cycles = std::vector<std::vector<size_t>>;

TEST(Topology, OrdersBehindWhatIsWaitedForAndByNumber) {
  Waits waits = {{4}, {}, {0}, {}, {}};
  EXPECT_EQ(topological_order(waits), (std::vector<size_t>{1, 3, 4, 0, 2}));
  EXPECT_TRUE(find_cycles(waits).empty());
}

TEST(Topology, TheGivenOrderDecidesBetweenThoseThatAreFree) {
  Waits waits = {{2}, {}, {}};
  EXPECT_EQ(topological_order(waits, std::greater<>()), (std::vector<size_t>{2, 1, 0}));
}

TEST(Topology, AnEdgeMayStandTwice) {
  Waits waits = {{1, 1}, {}};
  EXPECT_EQ(topological_order(waits), (std::vector<size_t>{1, 0}));
}

TEST(Topology, OrderLeavesOutCyclesAndWhatIsBehindThem) {
  Waits waits = {{1}, {0}, {1}, {}};
  EXPECT_EQ(topological_order(waits), (std::vector<size_t>{3}));
}

TEST(Topology, EachSeparateCycleIsFoundOnce) {
  // 0 -> 1 -> 0; 2 waits for it; 3 for itself; 4 -> 5 -> 6 -> 4 with a shorter way 5 -> 4; 7 for nothing.
  Waits waits = {{1}, {0}, {0}, {3}, {5}, {6, 4}, {4}, {}};
  EXPECT_EQ(find_cycles(waits), (Cycles{{0, 1}, {3}, {4, 5}}));
}

TEST(Topology, ACycleIsReadFromTheOneThatWaits) {
  Waits waits = {{2}, {0}, {1}};
  EXPECT_EQ(find_cycles(waits), (Cycles{{0, 2, 1}}));
}

TEST(Topology, TwoCyclesThroughOneVertexAreOneGroup) {
  Waits waits = {{1}, {0, 2}, {1}};
  EXPECT_EQ(find_cycles(waits), (Cycles{{0, 1}}));
}

TEST(Topology, AVeryLongCycleNeedsNoStack) {
  constexpr size_t kMany = 200'000;
  Waits waits(kMany);
  for (size_t v = 0; v < kMany; v++) waits[v] = {(v + 1) % kMany};
  Cycles cycles = find_cycles(waits);
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_EQ(cycles[0].size(), kMany);
  EXPECT_TRUE(topological_order(waits).empty());
}

}  // namespace
}  // namespace radl
