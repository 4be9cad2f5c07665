// Whose a state is: copies of it, what it owns, and what it has let go of.
#include <gtest/gtest.h>

#include <filesystem>

#include "common/files.h"
#include "runtime/state/copy.h"
#include "runtime/state/store.h"
#include "tests/support/fake_world.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

namespace fs = std::filesystem;

class OwnershipTest : public testing::Test {
 protected:
  std::string place(const std::string& name) { return folder_.path() + "/" + name + "/.radl"; }

  std::unique_ptr<Store> open(const std::string& project, OpenMode mode = OpenMode::Create) {
    auto store = Store::open(place(project), "demo", mode, fake_.world);
    EXPECT_TRUE(store.ok()) << store.status().text();
    return store.ok() ? std::move(*store) : nullptr;
  }
  Status lock(const std::string& project) {
    return open(project)->lock("apply", std::chrono::milliseconds(0));
  }
  void put(Store& store, const std::string& address, const std::string& token) {
    ResourceRecord record;
    record.address = address;
    record.type = "node";
    record.cloud = "local";
    record.id = "id-" + address;
    record.token = token;
    record.needs = {"key.local"};
    ASSERT_TRUE(store.put_resource(record).ok());
  }
  void begin() {
    auto store = open("a");
    ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
    put(*store, "worker[0]", "token-0");
  }
  void copy(const std::string& to) {
    fs::copy(folder_.path() + "/a", folder_.path() + "/" + to, fs::copy_options::recursive);
  }

  TemporaryFolder folder_;
  FakeWorld fake_;
};

TEST_F(OwnershipTest, ACopyOfAStateIsRefused) {
  begin();
  copy("b");
  EXPECT_TRUE(lock("a").ok()) << "the original goes on";
  const Status refused = lock("b");
  EXPECT_EQ(refused.code(), Code::Exists);
  EXPECT_NE(refused.message().find(fs::canonical(place("a")).string()), std::string::npos) << refused.text();
  EXPECT_FALSE(open("b", OpenMode::Read)->snapshot()->copy_of.empty());
  EXPECT_TRUE(open("a", OpenMode::Read)->snapshot()->copy_of.empty());
}

TEST_F(OwnershipTest, AMovedStateIsNoCopy) {
  begin();
  fs::rename(folder_.path() + "/a", folder_.path() + "/b");
  EXPECT_TRUE(lock("b").ok());
  EXPECT_TRUE(open("b", OpenMode::Read)->snapshot()->copy_of.empty());
}

TEST_F(OwnershipTest, ACopyWhoseOriginalIsGoneIsTheState) {
  begin();
  copy("b");
  fs::remove_all(folder_.path() + "/a");
  EXPECT_TRUE(lock("b").ok());
}

TEST_F(OwnershipTest, ACopyCanBeAdoptedOrDiscarded) {
  begin();
  copy("b");
  copy("c");
  ASSERT_TRUE(open("b")->adopt().ok());
  EXPECT_TRUE(lock("b").ok());
  EXPECT_EQ(discard_copy(place("b"), "demo", fake_.world).code(), Code::Conflict) << "it is no copy now";
  ASSERT_TRUE(discard_copy(place("c"), "demo", fake_.world).ok());
  EXPECT_FALSE(fs::exists(place("c")));
  EXPECT_EQ(open("a", OpenMode::Read)->snapshot()->resources.size(), 1u) << "the original stays";
}

// What `state migrate` and `state push` write is at home where they write it.
TEST_F(OwnershipTest, AStateThatRadlcMovesIsAtHomeThere) {
  {
    auto store = open("a");
    ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
  }
  const std::string kept = folder_.path() + "/kept.db";
  auto copied = copied_state(place("a"), "demo", fake_.world);
  ASSERT_TRUE(copied.ok());
  ASSERT_TRUE(write_file_atomic(kept, *copied).ok());
  ASSERT_TRUE(push_state(kept, place("b"), "demo", {}, fake_.world).ok());
  EXPECT_TRUE(lock("b").ok());
  ASSERT_TRUE(migrate_state(place("a"), place("c"), "demo", std::chrono::milliseconds(0), fake_.world).ok());
  EXPECT_TRUE(lock("c").ok());
}

TEST_F(OwnershipTest, WhatItHasCreatedIsItsOwnUntilItIsReleased) {
  auto store = open("a");
  ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
  Intent intent;
  intent.address = "worker[0]";
  intent.token = "token-0";
  intent.resource.address = "worker[0]";
  intent.resource.type = "node";
  intent.resource.cloud = "local";
  auto begun = store->begin(intent);
  ASSERT_TRUE(begun.ok());
  intent.resource.id = "id-worker[0]";
  intent.resource.token = "token-0";
  ASSERT_TRUE(store->finish(*begun, &intent.resource).ok());
  put(*store, "worker[1]", "token-1");
  auto tokens = [&] {
    std::set<std::string> all;
    auto owned = store->owned();
    EXPECT_TRUE(owned.ok()) << owned.status().text();
    for (const Owned& one : *owned) all.insert(one.token);
    return all;
  };
  EXPECT_EQ(tokens(), (std::set<std::string>{"token-0", "token-1"}));
  ASSERT_TRUE(store->release("worker[0]").ok());
  EXPECT_EQ(tokens(), std::set<std::string>{"token-1"}) << "the journal forgets it as well";
  const Snapshot now = *store->snapshot();
  ASSERT_EQ(now.released.size(), 1u);
  EXPECT_EQ(now.released[0].address, "worker[0]");
  EXPECT_EQ(now.released[0].id, "id-worker[0]");
  EXPECT_EQ(store->release("worker[0]").code(), Code::NotFound);
  ASSERT_TRUE(store->commit({state_change::DropReleased{"local", "id-worker[0]"}}).ok());
  EXPECT_TRUE(store->snapshot()->released.empty());
}

TEST_F(OwnershipTest, OnlyAnEmptyStateTakesAnothersLineage) {
  auto store = open("a");
  ASSERT_TRUE(store->lock("import", std::chrono::milliseconds(0)).ok());
  ASSERT_TRUE(store->commit({state_change::TakeLineage{"0a1b2c3d"}}).ok());
  EXPECT_EQ(infrastructure_tag("demo", store->snapshot()->lineage), "demo-0a1b2c3d");
  put(*store, "worker[0]", "token-0");
  EXPECT_EQ(store->commit({state_change::TakeLineage{"ffffffff"}}).status().code(), Code::Conflict);
}

}  // namespace
}  // namespace radl::test
