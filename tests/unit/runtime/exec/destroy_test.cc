// destroy leaves nothing, and says what it could not remove.
#include <gtest/gtest.h>

#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

ir::Program cluster() {
  return ProgramBuilder().deploy({"server"}).deploy({"worker", 2}).file("worker", "tools", "/a", "1").build();
}

class DestroyTest : public testing::Test {
 protected:
  DestroyTest() { EXPECT_TRUE(bench.apply(cluster()).status.ok()); }
  Bench bench;
};

TEST_F(DestroyTest, RemovesEverythingNodesFirst) {
  std::vector<std::string> order;
  std::mutex mutex;
  bench.cloud.point = [&](const std::string& where) {
    std::lock_guard guard(mutex);
    if (where.compare(0, 10, "destroy 1 ") == 0) order.push_back(where.substr(10));
  };
  RunReport report = bench.destroy();
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(bench.cloud.count(), 0u);
  ASSERT_EQ(order.size(), 5u);
  EXPECT_EQ(order[3], "network.lan");
  EXPECT_EQ(order[4], "key.local");
  EXPECT_TRUE(bench.snapshot().empty());
  EXPECT_TRUE(bench.destroy().status.ok()) << "destroying nothing is fine";
}

TEST_F(DestroyTest, WhatCannotBeRemovedIsNamedAndTriedAgainNextTime) {
  bench.cloud.fail_next({"destroy", "worker[1]", Status(Code::Auth, "not allowed")});
  RunReport report = bench.destroy();
  EXPECT_EQ(report.status.code(), Code::Auth);
  ASSERT_EQ(report.leftovers.size(), 1u);
  EXPECT_NE(report.leftovers[0].find("worker[1]"), std::string::npos);
  EXPECT_NE(report.leftovers[0].find("not allowed"), std::string::npos);
  Snapshot state = bench.snapshot();
  EXPECT_EQ(state.resources.at("worker[1]").status, ResourceStatus::Deleting);
  EXPECT_EQ(state.resources.count("server[0]"), 0u) << "the others are gone";
  EXPECT_EQ(state.resources.count("network.lan"), 1u) << "what it still needs stays";
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u);
}

TEST_F(DestroyTest, FindsWhatNobodyKnowsOf) {
  // A machine with our tag that is in no state: as after a lost state entry.
  std::string infrastructure = "demo-" + bench.snapshot().lineage.substr(0, 8);
  Context context;
  context.infrastructure = infrastructure;
  ASSERT_EQ(bench.cloud.ask_create(context, {"stray", "node", {}, {}, "0123456789abcdef", ""}).answer,
            Asked::Answer::Accepted);
  context.infrastructure = "somebody-else";
  ASSERT_EQ(bench.cloud.ask_create(context, {"other", "node", {}, {}, "fedcba9876543210", ""}).answer,
            Asked::Answer::Accepted);
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count(), 1u) << "and leaves others' machines alone";
}

// Nothing on record is of it any more, and yet it may have something of ours.
TEST_F(DestroyTest, AsksEveryCloudThatItKnows) {
  DiskCloud other(bench.folder.path() + "/other", "other");
  bench.clouds.add(other);
  Context context;
  context.infrastructure = infrastructure_tag("demo", bench.snapshot().lineage);
  ASSERT_EQ(other.ask_create(context, {"stray", "node", {}, {}, "0123456789abcdef", ""}).answer,
            Asked::Answer::Accepted);
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(other.count(), 0u);
}

TEST_F(DestroyTest, ACloudThatCannotBeAskedIsNamed) {
  bench.cloud.fail_next({"look", "everything", Status(Code::Auth, "bad key")});
  RunReport report = bench.destroy();
  EXPECT_FALSE(report.status.ok());
  ASSERT_EQ(report.leftovers.size(), 1u);
  EXPECT_NE(report.leftovers[0].find("bad key"), std::string::npos);
}

TEST_F(DestroyTest, AMachineThatIsGoneAlreadyIsNoError) {
  std::filesystem::remove_all(bench.folder.path() + "/cloud/" +
                              bench.snapshot().resources.at("worker[0]").id);
  EXPECT_TRUE(bench.destroy().status.ok());
}

TEST_F(DestroyTest, ADestroyedInfrastructureCanBeMadeAgain) {
  ASSERT_TRUE(bench.destroy().status.ok());
  ASSERT_TRUE(bench.apply(cluster()).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 3u);
}

}  // namespace
}  // namespace radl::test
