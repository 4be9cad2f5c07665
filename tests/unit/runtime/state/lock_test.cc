// One writer at a time; the dead do not hold locks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "common/process/process.h"
#include "runtime/state/database.h"
#include "runtime/state/lock.h"
#include "runtime/state/store.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/runtime/state/state_case.h"

namespace radl {
namespace {

using std::chrono::milliseconds;

class LockTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open() {
    return std::move(*Store::open(folder.path(), "demo", OpenMode::Create, real_world()));
  }
  // A process that takes the lock and then waits to be killed.
  pid_t holder() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_t child = ::fork();
    if (child == 0) {
      std::unique_ptr<Store> store = open();
      bool ok = store->lock("apply", milliseconds(0)).ok();
      (void)!::write(ready[1], ok ? "y" : "n", 1);
      while (true) ::pause();
    }
    char answer = 0;
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
    return child;
  }
  static void kill_and_wait(pid_t child) {
    ::kill(child, SIGKILL);
    int status;
    ::waitpid(child, &status, 0);
  }
  void change_row(const std::string& assignment) {
    Database db = std::move(*Database::open(folder.path() + "/demo/state.db", Database::Access::ReadWrite));
    ASSERT_TRUE(db.exec(("UPDATE lock SET " + assignment).c_str()).ok());
  }
  test::TemporaryFolder folder;
};

TEST_F(LockTest, ALivingOwnerIsNamedWithPlaceAndTime) {
  pid_t child = holder();
  Status status = open()->lock("apply", milliseconds(0));
  EXPECT_EQ(status.code(), Code::Conflict);
  EXPECT_NE(status.message().find("process " + std::to_string(child)), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(host_name()), std::string::npos);
  EXPECT_NE(status.message().find("since 20"), std::string::npos);
  kill_and_wait(child);
}

TEST_F(LockTest, ADeadOwnersLockIsFreeAtOnce) {
  pid_t child = holder();
  kill_and_wait(child);
  std::unique_ptr<Store> store = open();
  EXPECT_FALSE(store->lock_holder()->has_value());
  EXPECT_TRUE(store->lock("apply", milliseconds(0)).ok());
}

TEST_F(LockTest, WaitsUntilTheOwnerLetsGo) {
  std::unique_ptr<Store> first = open(), second = open();
  ASSERT_TRUE(first->lock("apply", milliseconds(0)).ok());
  std::thread later([&] {
    ::usleep(250000);
    first->unlock();
  });
  std::string told;
  EXPECT_TRUE(
      second->lock("plan", milliseconds(10000), [&](const LockInfo& who) { told = who.command; }).ok());
  EXPECT_EQ(told, "apply");
  later.join();
}

TEST_F(LockTest, WaitingEndsWhenCancelled) {
  std::unique_ptr<Store> first = open(), second = open();
  ASSERT_TRUE(first->lock("apply", milliseconds(0)).ok());
  EXPECT_EQ(second->lock("apply", milliseconds(60000), {}, Stop::when([] { return true; })).code(),
            Code::Cancelled);
}

TEST_F(LockTest, AnotherHostsLockIsHonouredUntilItIsForced) {
  const pid_t child = holder();
  std::unique_ptr<Store> other = open();
  std::string id = (*other->lock_holder())->id;
  change_row("host = 'elsewhere', boot_id = 'other'");
  kill_and_wait(child);  // of which nothing is seen from another host
  EXPECT_EQ(other->lock("apply", milliseconds(0)).code(), Code::Conflict);
  EXPECT_EQ(other->force_unlock("wrong").code(), Code::Conflict);
  EXPECT_TRUE(other->force_unlock(id).ok());
  EXPECT_TRUE(other->lock("apply", milliseconds(0)).ok());
}

TEST_F(LockTest, WhoseLockWasTakenAwayMustNotWrite) {
  std::unique_ptr<Store> store = open(), other = open();
  ASSERT_TRUE(store->lock("apply", milliseconds(0)).ok());
  ASSERT_TRUE(other->force_unlock((*store->lock_holder())->id).ok());
  EXPECT_EQ(store->put_resource({}).code(), Code::Conflict);
}

TEST_F(LockTest, ARunThatEndedInAProcessThatGoesOnHoldsNothing) {
  std::unique_ptr<Store> first = open();
  Database db = std::move(*Database::open(folder.path() + "/demo/state.db", Database::Access::ReadWrite));
  ASSERT_TRUE(first->lock("apply", milliseconds(0)).ok());
  EXPECT_EQ(open()->lock("apply", milliseconds(0)).code(), Code::Conflict) << "also within one process";
  // As if the run had ended before it could say so.
  ASSERT_TRUE(db.exec("CREATE TRIGGER stays BEFORE DELETE ON lock BEGIN SELECT RAISE(IGNORE); END").ok());
  first.reset();
  ASSERT_TRUE(db.exec("DROP TRIGGER stays").ok());
  EXPECT_EQ(*db.integer("SELECT pid FROM lock"), ::getpid());
  std::unique_ptr<Store> next = open();
  EXPECT_FALSE(next->lock_holder()->has_value());
  EXPECT_TRUE(next->lock("apply", milliseconds(0)).ok());
}

TEST_F(LockTest, ItsOwnerIsThePrincipalWhoAsked) {
  std::unique_ptr<Store> store = open();
  store->act_for("ana@example.org");
  ASSERT_TRUE(store->lock("apply", milliseconds(0)).ok());
  const LockInfo holder = **store->lock_holder();
  EXPECT_EQ(holder.principal, "ana@example.org");
  EXPECT_NE(holder.text().find("ana@example.org"), std::string::npos) << holder.text();
  ASSERT_TRUE(store->close_run({{}, {}, "digest", {}, "apply", "1 done"}).ok());
  EXPECT_EQ(store->history(1)->front().principal, "ana@example.org");
  store.reset();
  store = open();
  ASSERT_TRUE(store->lock("apply", milliseconds(0)).ok());
  EXPECT_EQ((*store->lock_holder())->principal, holder.owner) << "nobody named: the user of the process";
}

TEST_F(LockTest, AfterAForcedUnlockTheLivingHolderIsNamedUntilItEnds) {
  const pid_t child = holder();
  std::unique_ptr<Store> store = open();
  ASSERT_TRUE(store->force_unlock((*store->lock_holder())->id).ok());
  Status refused = store->lock("apply", milliseconds(0));
  EXPECT_EQ(refused.code(), Code::Conflict);
  EXPECT_NE(refused.message().find("process " + std::to_string(child)), std::string::npos) << refused.text();
  EXPECT_EQ(refused.text().find("process " + std::to_string(::getpid())), std::string::npos)
      << refused.text();
  kill_and_wait(child);
  EXPECT_TRUE(store->lock("apply", milliseconds(0)).ok());
}

TEST_F(LockTest, AfterARebootTheLockIsFree) {
  kill_and_wait(holder());
  change_row("boot_id = 'the one before'");
  EXPECT_FALSE(open()->lock_holder()->has_value());
}

TEST_F(LockTest, ANumberThatWasUsedAgainIsNotTheOwner) {
  pid_t child = holder();
  kill_and_wait(child);
  // As if our own process had got the dead one's number.
  change_row("pid = " + std::to_string(::getpid()) + ", pid_start = 1");
  EXPECT_TRUE(open()->lock("apply", milliseconds(0)).ok());
}

class StateLock : public test::StateCase {};

TEST_F(StateLock, WritingNeedsTheLock) {
  Result<std::unique_ptr<Store>> store = open();
  EXPECT_EQ((*store)->put_resource(node("worker[1]")).code(), Code::Internal);
}

// Another process that opens the database and closes it again when told to; as the last one that has it open
// it would remove the log. Begun before this process opens it: SQLite's own record of locks must not be
// inherited.
class OtherProcess {
 public:
  explicit OtherProcess(const std::string& path) {
    EXPECT_EQ(::pipe(pipe_), 0);
    child_ = ::fork();
    if (child_ != 0) return;
    char go = 0;
    if (::read(pipe_[0], &go, 1) != 1) ::_exit(9);
    sqlite3* db = nullptr;
    bool fine = sqlite3_open(path.c_str(), &db) == SQLITE_OK;
    auto count = [](void* rows, int, char** row, char**) {
      return *static_cast<int*>(rows) = std::atoi(row[0]), 0;
    };
    int rows = 0;
    fine = fine && sqlite3_exec(db, "SELECT count(*) FROM resources", count, &rows, nullptr) == SQLITE_OK;
    sqlite3_close(db);
    ::_exit(fine ? rows : 8);
  }
  // How many resources it saw.
  int run() {
    EXPECT_EQ(::write(pipe_[1], "g", 1), 1);
    int status = 0;
    ::waitpid(child_, &status, 0);
    return WEXITSTATUS(status);
  }
  ~OtherProcess() {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

 private:
  int pipe_[2] = {-1, -1};
  pid_t child_ = -1;
};

// POSIX locks of a process on a file are gone when it closes any of its descriptors of that file.
TEST_F(StateLock, ASecondOpeningInOneProcessKeepsTheFirstOnesLocks) {
  OtherProcess one(database()), two(database());
  std::unique_ptr<Store> first = locked();
  ASSERT_TRUE(first->put_resource(node("worker[0]")).ok());
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(one.run(), 1);
  EXPECT_TRUE(std::filesystem::exists(database() + "-wal")) << "another process took itself for the last one";
  ASSERT_TRUE(first->put_resource(node("worker[1]")).ok());
  EXPECT_EQ(two.run(), 2);
}

TEST_F(StateLock, WhoWaitedForAStateThatIsRemovedDoesNotGoOnInIt) {
  std::unique_ptr<Store> waiting = std::move(*open());
  ASSERT_TRUE(remove_state(directory(), "demo", fake.world).ok());
  EXPECT_EQ(waiting->lock("apply", std::chrono::milliseconds(0)).code(), Code::Lost);
  EXPECT_TRUE(locked()->put_resource(node("worker[1]")).ok()) << "the new one is as good as any";
}

}  // namespace
}  // namespace radl
