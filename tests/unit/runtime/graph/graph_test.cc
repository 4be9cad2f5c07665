#include <gtest/gtest.h>

#include "runtime/graph/dag.h"

namespace radl {
namespace {

using Ids = std::vector<Dag::Id>;

TEST(Dag, OrdersAndPrefersTheSmallestFreeNode) {
  Dag dag(5);
  dag.add_edge(4, 0);
  dag.add_edge(0, 2);
  dag.add_edge(4, 0);
  EXPECT_EQ(dag.topological_order(), (Ids{1, 3, 4, 0, 2}));
  EXPECT_TRUE(dag.find_cycle().empty());
}

TEST(Dag, FindsACycleAndNothingBesideIt) {
  Dag dag(5);
  dag.add_edge(0, 1);
  dag.add_edge(1, 2);
  dag.add_edge(2, 3);
  dag.add_edge(3, 1);
  dag.add_edge(3, 4);
  Ids cycle = dag.find_cycle();
  ASSERT_EQ(cycle.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Ids& after = dag.after(cycle[i]);
    EXPECT_NE(std::find(after.begin(), after.end(), cycle[(i + 1) % 3]), after.end());
  }
}

TEST(Dag, LongestPathCountsParallelBranchesOnce) {
  Dag dag(4);
  dag.add_edge(0, 1);
  dag.add_edge(0, 2);
  dag.add_edge(1, 3);
  dag.add_edge(2, 3);
  std::vector<double> costs{1, 5, 2, 3}, starts;
  EXPECT_EQ(dag.longest_path([&](Dag::Id id) { return costs[id]; }, &starts), 9);
  EXPECT_EQ(starts, (std::vector<double>{0, 1, 1, 6}));
}

TEST(Dag, DotEscapesLabels) {
  Dag dag(2);
  dag.add_edge(0, 1);
  std::string dot = dag.to_dot("g", [](Dag::Id id) { return id ? "a \"b\"" : "x\ny"; });
  EXPECT_NE(dot.find("[label=\"a \\\"b\\\"\"]"), std::string::npos);
  EXPECT_NE(dot.find("[label=\"x\\ny\"]"), std::string::npos);
  EXPECT_NE(dot.find("n0 -> n1;"), std::string::npos);
}

TEST(ReadyQueue, AFailureSkipsOnlyItsDependents) {
  Dag dag(4);
  dag.add_edge(0, 1);
  dag.add_edge(1, 2);
  ReadyQueue queue(dag);
  queue.take(0);
  queue.take(3);
  EXPECT_EQ(queue.failed(0), (Ids{1, 2}));
  EXPECT_FALSE(queue.done());
  queue.finished(3);
  EXPECT_TRUE(queue.done());
}

TEST(ReadyQueue, ABarrierWaitsForTheEndNotForSuccess) {
  Dag dag(5);  // 0 and 1 -> barrier 2 -> 3; 4 needs 0
  dag.add_edge(0, 2);
  dag.add_edge(1, 2);
  dag.add_edge(2, 3);
  dag.add_edge(0, 4);
  ReadyQueue queue(dag, {false, false, true, false, false});
  queue.take(0);
  queue.take(1);
  EXPECT_EQ(queue.failed(0), (Ids{4}));
  EXPECT_TRUE(queue.ready().empty()) << "1 still runs";
  queue.finished(1);
  EXPECT_EQ(queue.ready(), (std::set<Dag::Id>{2}));
  queue.take(2);
  queue.finished(2);
  EXPECT_EQ(queue.ready(), (std::set<Dag::Id>{3}));
}

TEST(ReadyQueue, WhatWasGivenUpStaysSoWhenItsOtherNeedEnds) {
  Dag dag(3);
  dag.add_edge(0, 2);
  dag.add_edge(1, 2);
  ReadyQueue queue(dag);
  queue.take(0);
  queue.take(1);
  EXPECT_EQ(queue.failed(0), (Ids{2}));
  queue.finished(1);
  EXPECT_TRUE(queue.ready().empty());
  EXPECT_TRUE(queue.done());
}

}  // namespace
}  // namespace radl
