#include "runtime/farm/sizing.h"

#include <gtest/gtest.h>

namespace radl::farm {
namespace {

// Tasks of one processor each, on nodes of one processor.
Farm farm_of(size_t tasks, double seconds) {
  Farm farm;
  for (size_t i = 0; i < tasks; ++i)
    (void)farm.apply(add_event({"t" + std::to_string(i), {1000, 0, 0, 0}, seconds, {}}, 0));
  return farm;
}

SizeQuestion question(size_t most, double create, double idle = 0) {
  SizeQuestion asked;
  asked.offered = {1000, 0, 0, 0};
  asked.most = most;
  asked.create_seconds = create;
  asked.idle_seconds = idle;
  return asked;
}

TEST(FarmSize, OneMoreNodeIsTakenOnlyIfItSavesMoreThanItCosts) {
  // Of n nodes the run takes 100 + 4800 / n seconds; each costs 100 s before its first task.
  const Size size = best_size(farm_of(8, 600), 0, question(20, 100));
  EXPECT_EQ(size.nodes, 8u);
  EXPECT_DOUBLE_EQ(size.run.seconds, 700);
  EXPECT_DOUBLE_EQ(size.run.paid_seconds, 8 * 700);
  // 8 s of work in each task are not worth 100 s of a node.
  EXPECT_EQ(best_size(farm_of(8, 8), 0, question(20, 100)).nodes, 1u);
}

TEST(FarmSize, TimeThatIsWorthMoreTakesMoreNodes) {
  SizeQuestion asked = question(64, 100);
  size_t before = 0;
  for (const double worth : {0.1, 1.0, 10.0, 100.0}) {
    asked.worth = worth;
    const size_t nodes = best_size(farm_of(64, 60), 0, asked).nodes;
    EXPECT_GE(nodes, before) << worth;
    before = nodes;
  }
  EXPECT_EQ(before, 64u);
  asked.worth = 0;
  EXPECT_EQ(best_size(farm_of(64, 60), 0, asked).nodes, 1u) << "the cheapest";
}

TEST(FarmSize, IsWithinTheBoundsAndNeverMoreThanTheTasks) {
  SizeQuestion asked = question(4, 0);
  EXPECT_EQ(best_size(farm_of(100, 600), 0, asked).nodes, 4u);
  EXPECT_EQ(best_size(farm_of(2, 600), 0, asked).nodes, 2u);
  asked.least = 3;
  EXPECT_EQ(best_size(farm_of(2, 600), 0, asked).nodes, 3u);
  EXPECT_EQ(best_size(farm_of(0, 600), 0, asked).nodes, 0u) << "nothing is left to do";
}

TEST(FarmSize, OfUnknownLengthsNodesThatExistStayAndOneIsEnough) {
  SizeQuestion asked = question(8, 100);
  EXPECT_EQ(best_size(farm_of(100, 0), 0, asked).nodes, 1u);
  asked.there = {"w[0]", "w[1]", "w[2]"};
  EXPECT_EQ(best_size(farm_of(100, 0), 0, asked).nodes, 3u);
}

TEST(FarmSize, NodesThatExistTakeTasksAtOnce) {
  SizeQuestion asked = question(8, 1000);
  asked.there = {"w[0]", "w[1]"};
  const Size size = best_size(farm_of(4, 60), 0, asked);
  EXPECT_EQ(size.nodes, 2u) << "a third one would come when all is done";
  EXPECT_DOUBLE_EQ(size.run.seconds, 120);
}

TEST(FarmSize, NeverTakesMoreNodeSecondsThanWereApproved) {
  SizeQuestion asked = question(8, 100);
  asked.there = {"w[0]"};
  asked.worth = 10;
  const Size free = best_size(farm_of(8, 600), 0, asked);
  asked.paid_most = 8 * 600 + 350;  // each new node costs 100 s before its first task
  const Size bound = best_size(farm_of(8, 600), 0, asked);
  EXPECT_GT(free.run.paid_seconds, asked.paid_most);
  EXPECT_LE(bound.run.paid_seconds, asked.paid_most);
  EXPECT_GT(bound.nodes, 1u);
  EXPECT_LT(bound.nodes, free.nodes);
  asked.paid_most = 0;
  EXPECT_EQ(best_size(farm_of(8, 600), 0, asked).nodes, 1u) << "what exists stays";
}

TEST(FarmRehearsal, IdleNodesAreRemovedAndPaidUntilThen) {
  Farm farm;
  for (const double seconds : {100.0, 10.0})
    (void)farm.apply(add_event({"t" + std::to_string(seconds), {1000, 0, 0, 0}, seconds, {}}, 0));
  farm = with_nodes(farm, {{"a", {1000, 0, 0, 0}}, {"b", {1000, 0, 0, 0}}});
  Comings comings;
  comings.idle_seconds = 20;
  const Rehearsal run = rehearse_rest(farm, 0, {}, {}, comings);
  EXPECT_DOUBLE_EQ(run.seconds, 100);
  EXPECT_DOUBLE_EQ(run.paid_seconds, 100 + 30);
  ASSERT_EQ(run.nodes.size(), 3u);
  EXPECT_EQ(run.nodes[0].nodes, 2u);
  EXPECT_EQ(run.nodes[1].nodes, 1u);
  EXPECT_DOUBLE_EQ(run.nodes[1].from, 30);
  EXPECT_EQ(run.nodes[2].nodes, 0u);
  EXPECT_DOUBLE_EQ(run.nodes[2].from, 100);
}

TEST(FarmSize, ANodeThatIsPreparedAnewIsNoLongerQuarantined) {
  Table table;
  ASSERT_TRUE(table.apply(node_event("a", {1000, 0, 0, 0}, 0)).ok());
  ASSERT_TRUE(table.apply(quarantine_event("a", "it fails", 1)).ok());
  ASSERT_TRUE(table.apply(node_event("a", {1000, 0, 0, 0}, 2)).ok());
  EXPECT_TRUE(table.nodes().at("a").quarantined);
  ASSERT_TRUE(table.apply(node_event("a", {1000, 0, 0, 0}, 3, true)).ok());
  EXPECT_FALSE(table.nodes().at("a").quarantined);
}

}  // namespace
}  // namespace radl::farm
