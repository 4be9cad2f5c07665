// One writer at a time; the dead do not hold locks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "runtime/base/process.h"
#include "runtime/state/database.h"
#include "runtime/state/lock.h"
#include "runtime/state/store.h"
#include "tests/support/temporary_folder.h"

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
  EXPECT_EQ(second->lock("apply", milliseconds(60000), {}, Stop::when([] { return true; })).code(), Code::Cancelled);
}

TEST_F(LockTest, AnotherHostsLockIsHonouredUntilItIsForced) {
  std::unique_ptr<Store> store = open();
  ASSERT_TRUE(store->lock("apply", milliseconds(0)).ok());
  std::string id = (*store->lock_holder())->id;
  change_row("host = 'elsewhere', boot_id = 'other'");
  std::unique_ptr<Store> other = open();
  EXPECT_EQ(other->lock("apply", milliseconds(0)).code(), Code::Conflict);
  EXPECT_EQ(other->force_unlock("wrong").code(), Code::Conflict);
  EXPECT_TRUE(other->force_unlock(id).ok());
  EXPECT_TRUE(other->lock("apply", milliseconds(0)).ok());
  EXPECT_EQ(store->put_resource({}).code(), Code::Conflict) << "whose lock was taken away may not write";
}

TEST_F(LockTest, AfterARebootTheLockIsFree) {
  std::unique_ptr<Store> store = open();
  ASSERT_TRUE(store->lock("apply", milliseconds(0)).ok());
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

}  // namespace
}  // namespace radl
