// How a state lies in a bucket: what a commit sends, and what is read back.
#include "runtime/state/stored_state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "common/files.h"
#include "runtime/state/copy.h"
#include "runtime/state/document.h"
#include "runtime/state/schema.h"
#include "tests/unit/runtime/state/stored_state_case.h"

namespace radl::test {
namespace {

using Parts = std::vector<std::string>;
constexpr int kMoreThanTheHeadTakes = 120;  // nodes

class StoredStateTest : public StoredStateCase {
 protected:
  Database head() {
    auto db = open_document(buckets.objects().at(kHead), "head");
    EXPECT_TRUE(db.ok());
    return std::move(*db);
  }
  void expect_corrupt(const std::string& named) {
    const auto store = open(OpenMode::Read);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.status().code(), Code::Corrupt) << store.status().text();
    EXPECT_NE(store.status().text().find(named), std::string::npos) << store.status().text();
  }
};

TEST_F(StoredStateTest, ASmallStateIsOneObject) {
  auto store = locked();
  put_nodes(*store, 0, 20);
  EXPECT_EQ(parts(), Parts());
  EXPECT_TRUE(from_document(buckets.objects().at(kHead), "state").ok());
  EXPECT_EQ(all_that_is_stored(), all_of(*store));
}

TEST_F(StoredStateTest, ACommitSendsWhatChangedAndNotAThousandResources) {
  auto store = locked();
  put_nodes(*store, 0, 1000);
  ASSERT_FALSE(parts().empty());
  const size_t whole = buckets.objects().at(parts()[0]).size();
  std::atomic<size_t> sent{0};
  set_fault([&](const std::string& request) {
    if (puts(request, kHead) || puts(request, kPartsFolder)) sent += body_bytes(request);
    return std::nullopt;
  });
  constexpr int kCommits = 300;
  for (int i = 0; i < kCommits; ++i) ASSERT_TRUE(store->put_resource(node(i)).ok());
  set_fault(nullptr);
  RecordProperty("bytes_of_all", std::to_string(whole));
  RecordProperty("bytes_per_commit", std::to_string(sent / kCommits));
  EXPECT_GT(whole, 4 * StoredState::kSmall);
  EXPECT_LT(sent / kCommits, whole / 20);
  EXPECT_LE(parts().size(), StoredState::kMostChanges + 1);
  EXPECT_EQ(all_that_is_stored(), all_of(*store));
}

TEST_F(StoredStateTest, EveryKindOfChangeIsReadBack) {
  auto store = locked();
  put_nodes(*store, 0, 200);
  ASSERT_FALSE(parts().empty());
  const auto expect_same = [&](const char* what) { EXPECT_EQ(all_that_is_stored(), all_of(*store)) << what; };
  Intent create;
  create.kind = Intent::Kind::Create;
  create.address = "worker[200]";
  create.token = "t";
  create.resource = node(200);
  auto begun = store->begin(create);
  ASSERT_TRUE(begun.ok());
  expect_same("begun");
  const ResourceRecord made = node(200);
  ASSERT_TRUE(store->finish(*begun, &made).ok());
  Intent destroy;
  destroy.kind = Intent::Kind::Destroy;
  destroy.address = "worker[5]";
  destroy.resource = node(5);
  begun = store->begin(destroy);
  ASSERT_TRUE(begun.ok());
  expect_same("a destroy that has begun");
  ASSERT_TRUE(store->finish_destroy(*begun, false).ok());
  StepRecord step;
  step.id = "worker[7]/tools";
  step.kind = "native";
  step.recipe = "tools";
  step.nodes = {"worker[7]"};
  step.definition = std::make_shared<const Json>(Json{{"recipe", "tools"}});
  begun = store->begin_run(step);
  ASSERT_TRUE(begun.ok());
  ASSERT_TRUE(store->finish_run(*begun, step).ok());
  expect_same("steps");
  ASSERT_TRUE(store->move("worker[7]", "trainer[0]").ok());
  ASSERT_TRUE(store->release("worker[8]").ok());
  ASSERT_TRUE(store->put_owner("ec2", "123").ok());
  ASSERT_TRUE(store
                  ->commit({state_change::Protect{"worker[9]", "demo.radl:4"},
                            state_change::PutScaling{"worker", Scaling{3, {0, 1}}}})
                  .ok());
  state_change::CloseRun close;
  close.outputs = {{"ip", "10.0.0.1", "", false}, {"name", "x", "", false}};
  close.secrets = {{"s", "f"}};
  close.command = "apply";
  close.summary = "1 created";
  ASSERT_TRUE(store->close_run(close).ok());
  close.outputs.erase(close.outputs.begin());
  ASSERT_TRUE(store->close_run(close).ok());
  expect_same("all");
  EXPECT_FALSE(store->move("nothing", "else").ok());
  ASSERT_TRUE(store->put_resource(node(10)).ok());
  expect_same("after a change that was refused");
  // Whoever reads it goes on from there.
  const std::string before = all_of(*store);
  store.reset();
  store = locked();
  EXPECT_EQ(all_of(*store), before);
  begun = store->begin(destroy);
  ASSERT_TRUE(begun.ok());
  EXPECT_EQ(begun->id, 4) << "no intent's ID is used twice";
  expect_same("by the next owner");
}

TEST_F(StoredStateTest, WhatIsReplacedAsAWholeIsReadBackWhenTheStateHasGrown) {
  auto store = locked();
  state_change::CloseRun close;
  close.outputs = {{"ip", "10.0.0.1", "", false}, {"name", "x", "", false}};
  close.secrets = {{"s", "f"}, {"t", "g"}};
  ASSERT_TRUE(store->close_run(close).ok());
  ASSERT_EQ(parts(), Parts());
  put_nodes(*store, 0, 300);
  ASSERT_FALSE(parts().empty());
  close.outputs.erase(close.outputs.begin());
  close.secrets.erase("s");
  ASSERT_TRUE(store->close_run(close).ok());
  EXPECT_EQ(all_that_is_stored(), all_of(*store));
}

TEST_F(StoredStateTest, PartsAreMergedNowAndThenAndUselessOnesRemoved) {
  auto store = locked();
  put_nodes(*store, 0, 1000);
  std::set<std::string> bases{parts()[0]};
  for (int round = 0; round < 30; ++round) {
    put_nodes(*store, 0, kMoreThanTheHeadTakes);
    ASSERT_LE(parts().size(), StoredState::kMostChanges + 1);
    bases.insert(parts()[0]);
  }
  EXPECT_GT(bases.size(), 2u);
  EXPECT_EQ(all_that_is_stored(), all_of(*store));
}

TEST_F(StoredStateTest, ALargeStateOfTheFirstFormatIsReadAndItsNextWriteIsOfTheSecond) {
  auto store = locked();
  put_nodes(*store, 0, 300);
  const std::string before = all_of(*store);
  auto bytes = copied_state(kPlace, "demo", world);
  ASSERT_TRUE(bytes.ok());
  auto db = Database::in_memory(*bytes);
  ASSERT_TRUE(db.ok());
  auto document = to_document(*db);
  ASSERT_TRUE(document.ok());
  store.reset();
  auto objects = buckets.objects();
  for (const std::string& part : parts()) objects.erase(part);
  objects[kHead] = *document;
  buckets.set_objects(objects);
  EXPECT_EQ(all_that_is_stored(), before);
  EXPECT_EQ(buckets.objects(), objects) << "reading changes nothing";
  store = locked();
  EXPECT_EQ(parts().size(), 1u);
  EXPECT_EQ(all_that_is_stored(), before);
}

TEST_F(StoredStateTest, AnOlderRadlcTakesTheHeadForAStateOfANewerOne) {
  put_nodes(*locked(), 0, 300);
  Database db = head();
  const auto version = state_version(db);
  EXPECT_EQ(version.status().code(), Code::Invalid);
  EXPECT_NE(version.status().message().find("newer radlc"), std::string::npos);
  EXPECT_EQ(from_document(buckets.objects().at(kHead), "copy").status().code(), Code::Invalid)
      << "a head alone is not a state";
}

TEST_F(StoredStateTest, APartThatWasRemovedOrDamagedIsNamed) {
  {
    auto store = locked();
    put_nodes(*store, 0, 300);
    put_nodes(*store, 0, kMoreThanTheHeadTakes);
  }
  const auto whole = buckets.objects();
  ASSERT_EQ(parts().size(), 2u);
  for (const std::string& part : parts()) {
    const std::string url = "s3:/" + part;
    auto objects = whole;
    objects.erase(part);
    buckets.set_objects(objects);
    expect_corrupt(url);
    objects = whole;
    objects[part].back() ^= 1;
    buckets.set_objects(objects);
    expect_corrupt(url);
    objects = whole;
    objects[part].resize(objects[part].size() / 2);
    buckets.set_objects(objects);
    expect_corrupt(url);
  }
  auto objects = whole;
  objects[kHead].resize(objects[kHead].size() / 2);
  buckets.set_objects(objects);
  expect_corrupt("state.db.gz");
  buckets.set_objects(whole);
  EXPECT_TRUE(open(OpenMode::Read).ok());
}

TEST_F(StoredStateTest, AReaderWhosePartsAreReplacedMeanwhileReadsTheNewOnes) {
  auto store = locked();
  put_nodes(*store, 0, 300);
  const auto before = buckets.objects();
  for (int round = 0; round < 3; ++round) put_nodes(*store, 0, 300);
  ASSERT_NE(before.at(kHead), buckets.objects().at(kHead));
  ASSERT_EQ(before.count(parts()[0]), 0u) << "another base";
  std::atomic<int> heads{0};
  set_fault([&](const std::string& request) -> std::optional<std::string> {
    if (!request.starts_with(std::string("GET ") + kHead + " ") || ++heads > 1) return std::nullopt;
    Buckets earlier;
    earlier.set_objects(before);
    return earlier.answer(request);
  });
  auto read = open(OpenMode::Read);
  set_fault(nullptr);
  EXPECT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(heads, 2);
}

TEST_F(StoredStateTest, ALostAnswerIsLookedUp) {
  auto store = locked();
  put_nodes(*store, 0, 300);
  for (const bool done : {true, false}) {
    for (const char* path : {kHead, kPartsFolder}) {
      std::atomic<int> lost{0};
      set_fault([&](const std::string& request) -> std::optional<std::string> {
        if (!puts(request, path) || lost++ > 0) return std::nullopt;
        if (done) buckets.answer(request);
        return "";
      });
      put_nodes(*store, 0, kMoreThanTheHeadTakes);
      set_fault(nullptr);
      EXPECT_GE(lost, 1);
      EXPECT_EQ(all_that_is_stored(), all_of(*store));
    }
  }
}

TEST_F(StoredStateTest, WhatCouldNotBeWrittenGoesWithTheNextWrite) {
  auto store = locked();
  put_nodes(*store, 0, 300);
  for (const char* path : {kHead, kPartsFolder}) {
    set_fault([&](const std::string& request) -> std::optional<std::string> {
      if (!puts(request, path)) return std::nullopt;
      return http_answer(403, "", "<Error><Code>AccessDenied</Code></Error>");
    });
    std::vector<StateChange> changes;
    for (int i = 0; i < kMoreThanTheHeadTakes; ++i) changes.push_back(state_change::PutResource{node(i)});
    EXPECT_FALSE(store->commit(changes).ok());
    EXPECT_FALSE(store->can_write());
    set_fault(nullptr);
    ASSERT_TRUE(store->put_resource(node(1)).ok());
    EXPECT_EQ(all_that_is_stored(), all_of(*store));
  }
}

TEST_F(StoredStateTest, AnOwnerWhoseLockWasTakenWritesNothingThatCounts) {
  auto first = locked();
  put_nodes(*first, 0, 300);
  auto second = open();
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE((*second)->force_unlock((*(*second)->lock_holder())->id).ok());
  ASSERT_TRUE((*second)->lock("apply", std::chrono::milliseconds(0)).ok());
  put_nodes(**second, 300, 310);
  const std::string before = all_of(**second);
  std::vector<StateChange> changes;
  for (int i = 0; i < kMoreThanTheHeadTakes; ++i) changes.push_back(state_change::PutResource{node(i)});
  EXPECT_EQ(first->commit(changes).status().code(), Code::Conflict);
  EXPECT_EQ(all_that_is_stored(), before);
  for (int round = 0; round < 12; ++round) put_nodes(**second, 0, kMoreThanTheHeadTakes);
  EXPECT_LE(parts().size(), StoredState::kMostChanges + 1) << "what the first one left is removed";
  EXPECT_EQ(all_that_is_stored(), all_of(**second));
}

TEST_F(StoredStateTest, IsPulledPushedMovedAndRemoved) {
  {
    auto store = locked();
    put_nodes(*store, 0, 300);
    put_nodes(*store, 0, kMoreThanTheHeadTakes);
  }
  const std::string before = all_that_is_stored(), file = folder.path("copy.db");
  auto bytes = copied_state(kPlace, "demo", world);
  ASSERT_TRUE(bytes.ok());
  ASSERT_TRUE(write_file_atomic(file, *bytes, 0600).ok());
  put_nodes(*locked(), 300, 310);
  EXPECT_EQ(push_state(file, kPlace, "demo", {}, world).code(), Code::Conflict) << "it is older";
  PushOptions force;
  force.force = true;
  ASSERT_TRUE(push_state(file, kPlace, "demo", force, world).ok());
  EXPECT_EQ(all_that_is_stored(), before);
  const std::string place = folder.path(".radl");
  ASSERT_TRUE(migrate_state(kPlace, place, "demo", {}, world).ok());
  EXPECT_EQ(buckets.left(), 0u);
  ASSERT_TRUE(migrate_state(place, kPlace, "demo", {}, world).ok());
  EXPECT_EQ(all_that_is_stored(), before);
  auto states = list_states(kPlace, world.environment);
  ASSERT_TRUE(states.ok());
  EXPECT_EQ(*states, Parts{"demo"});
}

}  // namespace
}  // namespace radl::test
