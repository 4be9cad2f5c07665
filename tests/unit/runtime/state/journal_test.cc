// What is about to be done is recorded before, and written whole or not at all.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <map>
#include <new>
#include <thread>

#include "runtime/state/sqlite_store.h"
#include "tests/support/fault_vfs.h"
#include "tests/unit/runtime/state/state_case.h"

namespace radl {
namespace {

class Journal : public test::StateCase {};

TEST_F(Journal, AnIntentStaysOpenUntilItIsClosed) {
  {
    std::unique_ptr<Store> store = locked();
    Intent intent;
    intent.address = "worker[1]";
    intent.token = "t1";
    intent.resource = node("worker[1]");
    ASSERT_TRUE(store->begin(intent).ok());
  }
  std::unique_ptr<Store> store = locked();
  std::vector<Intent> open = *store->open_intents();
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].token, "t1");
  EXPECT_EQ(open[0].resource.spec, node("").spec);
  EXPECT_EQ(store->snapshot()->open_intents, 1u);
  ResourceRecord made = node("worker[1]");
  ASSERT_TRUE(store->finish(open[0], &made).ok());
  EXPECT_TRUE(store->open_intents()->empty());
  EXPECT_EQ(store->snapshot()->resources.count("worker[1]"), 1u);
}

TEST_F(Journal, AllChangesOfOneWriteOrNone) {
  std::unique_ptr<Store> store = locked();
  EXPECT_EQ(store->commit({state_change::PutResource{node("worker[0]")}, state_change::Move{"nobody", "x"}})
                .status()
                .code(),
            Code::NotFound);
  EXPECT_TRUE(store->snapshot()->resources.empty());
  auto begun = store->commit(
      {state_change::Begin{}, state_change::PutResource{node("worker[0]")}, state_change::Begin{}});
  ASSERT_TRUE(begun.ok()) << begun.status().text();
  EXPECT_EQ(begun->size(), 2u);
  EXPECT_NE(begun->front(), begun->back());
}

class OutOfMemoryOnce : public SqliteStore {
 public:
  using SqliteStore::SqliteStore;

 protected:
  Status persist() override {
    if (std::exchange(out_of_memory_, false)) throw std::bad_alloc();
    return {};
  }

 private:
  bool out_of_memory_ = true;
};

TEST_F(Journal, AWriterThatRunsOutOfMemoryHoldsNobodyUp) {
  ASSERT_TRUE(open().ok());
  Result<Database> database_file = Database::open(database(), Database::Access::ReadWrite);
  ASSERT_TRUE(database_file.ok());
  OutOfMemoryOnce store(std::move(*database_file), directory() + "/demo", fake.world, true);
  ASSERT_TRUE(store.lock("test", std::chrono::milliseconds(0), {}, {}).ok());
  EXPECT_THROW((void)store.commit({state_change::PutResource{node("worker[0]")}}), std::bad_alloc);
  EXPECT_TRUE(store.commit({state_change::PutResource{node("worker[1]")}}).ok());
}

// Eight threads write concurrently: writes that wait during a commit go into the next one together.
TEST_F(Journal, WhatIsWrittenAtOnceIsMadeDurableTogether) {
  constexpr int kThreads = 8, kEach = 10;
  test::FaultVfs vfs;
  std::unique_ptr<Store> store = locked();
  vfs.slow_syncs(std::chrono::milliseconds(5));
  const long long before = vfs.syncs();
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        failed += !store->put_resource(node("worker[" + std::to_string(t * kEach + i) + "]")).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LT(vfs.syncs() - before, kThreads * kEach / 2);
  Snapshot snapshot = *store->snapshot();
  EXPECT_EQ(snapshot.resources.size(), size_t{kThreads * kEach});
  EXPECT_EQ(snapshot.serial, kThreads * kEach) << "each write is one, whoever it was written with";
}

// One of several that are written together is no good: it fails, and the others are written.
TEST_F(Journal, AWriteThatFailsTakesNoOtherAlong) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[0]")).ok());
  std::atomic<int> written{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 8; ++t) {
    threads.emplace_back([&, t] {
      if (t % 2)
        written += store->put_resource(node("worker[" + std::to_string(t) + "]")).ok();
      else
        refused += store->move("nobody", "somebody").code() == Code::NotFound;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, 4);
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(store->snapshot()->resources.size(), 5u);
}

// A run that hands in what many resources have to record: one transaction, and still each by itself.
TEST_F(Journal, ListsThatAreHandedInTogetherAreOneSyncAndFailEachAlone) {
  test::FaultVfs vfs;
  std::unique_ptr<Store> store = locked();
  std::vector<std::vector<StateChange>> lists;
  for (int i = 0; i < 100; ++i) {
    Intent intent;
    intent.address = "worker[" + std::to_string(i) + "]";
    intent.resource = node(intent.address);
    lists.push_back({state_change::Begin{intent}});
  }
  lists[7] = {state_change::Move{"nobody", "somebody"}};
  const long long before = vfs.syncs();
  auto results = store->commit_each(lists);
  EXPECT_LE(vfs.syncs() - before, 2);
  ASSERT_EQ(results.size(), lists.size());
  std::map<long long, size_t> list_of;
  for (size_t i = 0; i < results.size(); ++i) {
    if (i == 7) {
      EXPECT_EQ(results[i].status().code(), Code::NotFound);
      continue;
    }
    ASSERT_TRUE(results[i].ok()) << results[i].status().text();
    ASSERT_EQ(results[i]->size(), 1u);
    list_of[results[i]->front()] = i;
  }
  EXPECT_EQ(list_of.size(), 99u) << "each has an intent of its own";
  for (const Intent& open : *store->open_intents())
    EXPECT_EQ(open.address, "worker[" + std::to_string(list_of.at(open.id)) + "]");
  EXPECT_TRUE(store->commit_each({}).empty());
}

TEST_F(Journal, AFullDiskIsQuotaAndLosesNothing) {
  test::FaultVfs vfs;
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[0]")).ok());
  vfs.fail_writes(SQLITE_FULL);
  Status full = store->put_resource(node("worker[1]"));
  EXPECT_EQ(full.code(), Code::Quota) << full.text();
  EXPECT_FALSE(full.hint().empty());
  EXPECT_EQ(store->snapshot()->resources.size(), 1u);
  vfs.fail_writes(SQLITE_OK);
  EXPECT_TRUE(store->put_resource(node("worker[1]")).ok()) << "it goes on as soon as there is room";
  EXPECT_EQ(store->snapshot()->resources.size(), 2u);
}

}  // namespace
}  // namespace radl
