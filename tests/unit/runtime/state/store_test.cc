// The state: what is written is read again.
#include "runtime/state/store.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/state/state_case.h"

namespace radl {
namespace {

class StoreTest : public test::StateCase {};

TEST_F(StoreTest, ReadsBackEverything) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
    Intent intent = *store->begin_run(step("worker[1]/tools", {"worker[1]"}));
    EXPECT_EQ(store->snapshot()->steps.at("worker[1]/tools").status, StepStatus::Interrupted);
    ASSERT_TRUE(store->finish_run(intent, step("worker[1]/tools", {"worker[1]"})).ok());
    std::vector<OutputRecord> outputs{{"b", "x", "text", false}, {"a", "hidden", "", true}};
    ASSERT_TRUE(store->close_run({outputs, {{"s", "f"}}, "digest", {"a.radl"}, "apply", "1 done"}).ok());
  }
  Snapshot read = *(*open(OpenMode::Read))->snapshot();
  EXPECT_EQ(read.name, "demo");
  EXPECT_EQ(read.lineage.size(), 32u);
  EXPECT_EQ(read.serial, 4);
  EXPECT_EQ(read.source_paths, std::vector<std::string>{"a.radl"});
  ResourceRecord was = node("worker[1]"), now = read.resources.at("worker[1]");
  EXPECT_EQ(now.id, was.id);
  EXPECT_EQ(now.spec, was.spec);
  EXPECT_EQ(now.attributes, was.attributes);
  EXPECT_EQ(now.needs, was.needs);
  EXPECT_EQ(now.number, 4);
  EXPECT_TRUE(now.reachable);
  EXPECT_EQ(now.type, "node");
  EXPECT_EQ(now.cloud, "local");
  EXPECT_EQ(now.price_per_hour, Money::of(0.25, "EUR"));
  StepRecord done = read.steps.at("worker[1]/tools");
  EXPECT_EQ(done.status, StepStatus::Done);
  EXPECT_EQ(done.made_on.at("worker[1]"), "id-1");
  EXPECT_EQ(*done.definition, Json({{"recipe", "tools"}}));
  EXPECT_EQ(done.inputs.at("a.ip"), "f");
  EXPECT_EQ(done.revision, "r");
  ASSERT_EQ(read.outputs.size(), 2u);
  EXPECT_EQ(read.outputs[0].name, "b") << "outputs keep the order of the file";
  EXPECT_TRUE(read.outputs[1].value.is_null()) << "a sensitive value is not stored";
  EXPECT_EQ((*open(OpenMode::Read))->history(5)->at(0).summary, "1 done");
}

TEST_F(StoreTest, ADestroyTakesTheStepsThatHaveNoNodeLeft) {
  std::unique_ptr<Store> store = locked();
  for (const char* address : {"worker[0]", "worker[1]"}) ASSERT_TRUE(store->put_resource(node(address)).ok());
  for (const StepRecord& record :
       {step("worker[0]/tools", {"worker[0]"}), step("worker[1]/tools", {"worker[1]"}),
        step("training/x", {"worker[0]", "worker[1]"})}) {
    ASSERT_TRUE(store->finish_run(*store->begin_run(record), record).ok());
  }
  ASSERT_TRUE(store->remove_resource("worker[0]").ok());
  EXPECT_EQ(store->snapshot()->steps.count("worker[0]/tools"), 0u);
  EXPECT_EQ(store->snapshot()->steps.count("training/x"), 1u);
  ASSERT_TRUE(store->remove_resource("worker[1]").ok());
  EXPECT_TRUE(store->snapshot()->steps.empty());
}

TEST_F(StoreTest, MovesASystemWithItsSteps) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  StepRecord record = step("worker[1]/tools", {"worker[1]"});
  ASSERT_TRUE(store->finish_run(*store->begin_run(record), record).ok());
  ASSERT_TRUE(store->move("worker", "trainer").ok());
  Snapshot moved = *store->snapshot();
  ASSERT_EQ(moved.resources.count("trainer[1]"), 1u);
  EXPECT_EQ(moved.resources.at("trainer[1]").system, "trainer");
  EXPECT_EQ(moved.resources.at("trainer[1]").ordinal, 1);
  EXPECT_EQ(moved.steps.at("trainer[1]/tools").nodes[0], "trainer[1]");
  EXPECT_EQ(moved.resources.size() + moved.steps.size(), 2u);
  EXPECT_EQ(store->move("nobody", "x").code(), Code::NotFound);
}

TEST_F(StoreTest, WhatWasMadeForANodeMovesWithIt) {
  std::unique_ptr<Store> store = locked();
  ResourceRecord volume, worker = node("worker[1]"), other = node("a.worker[1]");
  volume.address = "volume.worker[1].2";
  volume.type = "volume";
  worker.needs = {"key.local", "volume.worker[1].2"};
  worker.spec = {{"volumes", {"volume.worker[1].2"}}, {"note", "worker[1]"}};
  other.system = "a.worker";
  for (const ResourceRecord& record : {volume, worker, other}) ASSERT_TRUE(store->put_resource(record).ok());
  ASSERT_TRUE(store->move("worker", "trainer").ok());
  Snapshot moved = *store->snapshot();
  ASSERT_EQ(moved.resources.count("trainer[1]"), 1u);
  EXPECT_EQ(moved.resources.count("volume.trainer[1].2"), 1u);
  EXPECT_EQ(moved.resources.count("a.worker[1]"), 1u) << "another module's node has nothing to do with it";
  EXPECT_EQ(moved.resources.at("trainer[1]").needs[1], "volume.trainer[1].2");
  EXPECT_EQ(moved.resources.at("trainer[1]").spec,
            Json({{"volumes", {"volume.trainer[1].2"}}, {"note", "worker[1]"}}));
}

TEST_F(StoreTest, WhatIsNoNodeKeepsTheWordBeforeThePoint) {
  std::unique_ptr<Store> store = locked();
  ResourceRecord volume;
  volume.address = "volume.data";
  volume.type = "volume";
  ASSERT_TRUE(store->put_resource(volume).ok());
  ASSERT_TRUE(store->move("volume.data", "volume.old").ok());
  for (const char* wrong : {"network.old", "volume.", "old[0]"})
    EXPECT_EQ(store->move("volume.old", wrong).code(), Code::Invalid) << wrong;
  EXPECT_EQ(store->snapshot()->resources.count("volume.old"), 1u);
}

TEST_F(StoreTest, RecordsOfAnotherShapeAreDamage) {
  ASSERT_TRUE(locked()->put_resource(node("worker[1]")).ok());
  sql("UPDATE resources SET attributes = '[1]'");
  Result<Snapshot> read = (*open())->snapshot();
  EXPECT_EQ(read.status().code(), Code::Corrupt);
  EXPECT_NE(read.status().message().find("worker[1]"), std::string::npos);
}

TEST_F(StoreTest, KeepsWhoseAccountACloudIs) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_owner("ec2:/eu-west-1", "111122223333").ok());
  }
  Snapshot snapshot = *(*open(OpenMode::Read))->snapshot();
  EXPECT_EQ(snapshot.owners, (std::map<std::string, std::string>{{"ec2:/eu-west-1", "111122223333"}}));
  EXPECT_EQ(to_json(snapshot)["owners"]["ec2:/eu-west-1"], "111122223333");
}

TEST_F(StoreTest, AnExportHasEveryRecordAndNoSalt) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  StepRecord record = step("worker[1]/tools", {"worker[1]"});
  ASSERT_TRUE(store->finish_run(*store->begin_run(record), record).ok());
  ASSERT_TRUE(store->close_run({{}, {{"password", "fingerprint"}}, "d", {}, "apply", ""}).ok());
  Snapshot snapshot = *store->snapshot();
  Json shown = to_json(snapshot), whole = whole_json(snapshot);
  EXPECT_EQ(shown["resources"][0]["price_per_hour"], Json({{"micros", 250000}, {"currency", "EUR"}}));
  EXPECT_EQ(shown["resources"][0]["type"], "node");
  EXPECT_FALSE(shown["resources"][0].contains("token"));
  EXPECT_EQ(whole["resources"][0]["token"], "token-worker[1]");
  EXPECT_EQ(whole["steps"][0]["definition"], Json({{"recipe", "tools"}}));
  EXPECT_EQ(whole["steps"][0]["inputs"], Json({{"a.ip", "f"}}));
  EXPECT_EQ(whole.dump().find(snapshot.salt), std::string::npos);
  EXPECT_EQ(whole.dump().find("fingerprint"), std::string::npos);
}

TEST_F(StoreTest, SecretsShowOnlyThatTheyChanged) {
  Snapshot one = *locked()->snapshot();
  Snapshot two = one;
  two.salt = "other";
  EXPECT_EQ(secret_fingerprint(one, "hunter2"), secret_fingerprint(one, "hunter2"));
  EXPECT_NE(secret_fingerprint(one, "hunter2"), secret_fingerprint(one, "hunter3"));
  EXPECT_NE(secret_fingerprint(one, "hunter2"), secret_fingerprint(two, "hunter2"));
  EXPECT_EQ(to_json(one).dump().find(one.salt), std::string::npos);
}

}  // namespace
}  // namespace radl
