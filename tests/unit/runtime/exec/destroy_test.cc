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

// A machine with this infrastructure's tag that the state did not create: somebody has copied the tags.
std::string add_stray(Cloud& cloud, const std::string& infrastructure) {
  Context context{.environment = environment_of_process()};
  context.infrastructure = infrastructure;
  Asked asked = cloud.ask_create(context, {"stray", "node", {}, {}, "0123456789abcdef", ""});
  EXPECT_EQ(asked.answer, Asked::Answer::Accepted);
  Query query;
  query.tokens = {"0123456789abcdef"};
  auto seen = cloud.look(context, query);
  EXPECT_TRUE(seen.ok() && seen->size() == 1);
  return seen.ok() && !seen->empty() ? seen->front().id : "";
}

TEST_F(DestroyTest, WhatTheStateDidNotCreateIsListedAndLeftAlone) {
  const std::string id = add_stray(bench.cloud, "demo-" + bench.snapshot().lineage.substr(0, 8));
  add_stray(bench.cloud, "somebody-else");
  RunReport report = bench.destroy();
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(bench.cloud.count(), 2u) << "the stray and the other infrastructure's";
  ASSERT_EQ(report.unowned.size(), 1u);
  EXPECT_EQ(report.unowned[0].id, id);
  EXPECT_EQ(report.unowned[0].cloud, "local");
  EXPECT_TRUE(report.leftovers.empty());
}

// The clouds of a type that many accounts share are asked for by what the journal says.
TEST_F(DestroyTest, WhatWasLeftAloneIsStillSeenWhenNothingIsRecordedAnyMore) {
  const std::string id = add_stray(bench.cloud, "demo-" + bench.snapshot().lineage.substr(0, 8));
  ASSERT_TRUE(bench.destroy().status.ok());
  ASSERT_TRUE(bench.snapshot().resources.empty());
  {
    std::unique_ptr<Store> store = bench.store();
    ASSERT_TRUE(store->lock("destroy", std::chrono::milliseconds(0)).ok());
    Result<Others> others = look_for_others(bench.run(*store, nullptr));
    ASSERT_TRUE(others.ok()) << others.status().text();
    ASSERT_EQ(others->unowned.size(), 1u);
    EXPECT_EQ(others->unowned[0].id, id);
  }
  EXPECT_EQ(bench.destroy().unowned.size(), 1u);
  ASSERT_TRUE(bench.destroy({id}).status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u);
}

TEST_F(DestroyTest, NamedForeignResourcesAreRemovedToo) {
  const std::string id = add_stray(bench.cloud, "demo-" + bench.snapshot().lineage.substr(0, 8));
  RunReport report = bench.destroy({id});
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(bench.cloud.count(), 0u);
  EXPECT_TRUE(report.unowned.empty());
}

// Nothing on record is of it any more, and yet it may have something that carries the tag.
TEST_F(DestroyTest, AsksEveryCloudThatItKnows) {
  DiskCloud other(bench.folder.path() + "/other", "other");
  bench.clouds.add(other);
  const std::string id = add_stray(other, infrastructure_tag("demo", bench.snapshot().lineage));
  RunReport report = bench.destroy();
  ASSERT_TRUE(report.status.ok());
  ASSERT_EQ(report.unowned.size(), 1u);
  EXPECT_EQ(report.unowned[0].cloud, "other");
  ASSERT_TRUE(bench.destroy({id}).status.ok());
  EXPECT_EQ(other.count(), 0u);
}

// Whatever became of the answer to its creation, the journal knows its token.
TEST_F(DestroyTest, WhatTheJournalKnowsIsThisStatesOwn) {
  const std::string tag = infrastructure_tag("demo", bench.snapshot().lineage);
  {
    std::unique_ptr<Store> store = bench.store();
    ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
    Intent intent;
    intent.address = "stray";
    intent.token = "0123456789abcdef";
    intent.resource.address = "stray";
    intent.resource.type = "node";
    intent.resource.cloud = "local";
    Result<Intent> begun = store->begin(intent);
    ASSERT_TRUE(begun.ok());
    ASSERT_TRUE(store->finish(*begun, nullptr).ok());  // "never made": it shows late
  }
  add_stray(bench.cloud, tag);
  RunReport report = bench.destroy();
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(bench.cloud.count(), 0u);
  EXPECT_TRUE(report.unowned.empty());
}

TEST_F(DestroyTest, WhatWasReleasedStaysWithWhatItUses) {
  const std::string id = bench.snapshot().resources.at("worker[0]").id;
  ASSERT_TRUE(bench.release("worker[0]").ok());
  ASSERT_EQ(bench.snapshot().released.size(), 1u);
  EXPECT_EQ(bench.snapshot().released[0].id, id);
  for (int round = 0; round < 2; ++round) {
    RunReport report = bench.destroy();
    ASSERT_TRUE(report.status.ok()) << report.status.text();
    EXPECT_TRUE(report.leftovers.empty());
    EXPECT_EQ(bench.snapshot().resources.size(), 2u) << "its key and its network stay recorded";
    EXPECT_EQ(bench.cloud.count("node"), 1u);
    EXPECT_EQ(bench.cloud.count(), 3u);
  }
}

TEST_F(DestroyTest, WhatWasCreatedForANodeAloneIsReleasedWithIt) {
  {
    std::unique_ptr<Store> store = bench.store();
    ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
    ResourceRecord node = bench.snapshot().resources.at("worker[0]");
    ResourceRecord volume = node, other = node;
    volume.address = "volume.worker[0].1";
    other.address = "volume.worker[00].1";
    volume.system = other.system = "";
    volume.id = "vol-1";
    other.id = "vol-2";
    volume.needs = other.needs = {};
    node.needs.insert(node.needs.end(), {volume.address, other.address});
    for (const ResourceRecord& one : {volume, other, node}) ASSERT_TRUE(store->put_resource(one).ok());
  }
  ASSERT_TRUE(bench.release("worker[0]").ok());
  const Snapshot now = bench.snapshot();
  EXPECT_EQ(now.released.size(), 2u);
  EXPECT_EQ(now.resources.count("volume.worker[0].1"), 0u);
  EXPECT_EQ(now.resources.count("volume.worker[00].1"), 1u);
  EXPECT_EQ(now.resources.count("network.lan"), 1u);
}

TEST_F(DestroyTest, WhatWasReleasedGoesWhereItIsNamed) {
  const std::string id = bench.snapshot().resources.at("worker[0]").id;
  ASSERT_TRUE(bench.release("worker[0]").ok());
  ASSERT_TRUE(bench.destroy({id}).status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u) << "with what was kept for it";
  EXPECT_TRUE(bench.snapshot().released.empty());
  EXPECT_TRUE(bench.snapshot().resources.empty());
}

TEST_F(DestroyTest, ARemovedReleasedMachineKeepsNothing) {
  const std::string id = bench.snapshot().resources.at("worker[0]").id;
  ASSERT_TRUE(bench.release("worker[0]").ok());
  std::filesystem::remove_all(bench.folder.path() + "/cloud/" + id);
  // A plan looks without the lock, and writes nothing.
  ASSERT_TRUE(look_for_others(bench.run(*bench.store(), nullptr), false).ok());
  EXPECT_EQ(bench.snapshot().released.size(), 1u);
  {
    std::unique_ptr<Store> store = bench.store();
    ASSERT_TRUE(store->lock("destroy", std::chrono::milliseconds(0)).ok());
    ASSERT_TRUE(look_for_others(bench.run(*store, nullptr)).ok());
  }
  EXPECT_TRUE(bench.snapshot().released.empty());
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u);
}

// Its steps and its record are gone, and apply creates another one beside it.
TEST_F(DestroyTest, TheNextApplyCreatesAReplacementForAReleasedResource) {
  ASSERT_TRUE(bench.release("worker[0]").ok());
  EXPECT_EQ(bench.release("worker[0]").code(), Code::NotFound);
  ASSERT_TRUE(bench.apply(cluster()).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 4u);
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 1u);
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
