// Jobs are supervised independently of the state's lock: one supervisor each, which can be asked to release
// the job, and whose death frees it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "runtime/state/job_lease.h"
#include "tests/unit/runtime/state/state_case.h"

namespace radl {
namespace {

using std::chrono::milliseconds;
constexpr const char* kJob = "training/cifar";

class LeaseTest : public test::StateCase {
 protected:
  std::unique_ptr<Store> store(OpenMode mode = OpenMode::Create) { return std::move(*open(mode)); }
  // A job that has begun: its intent is open.
  void begin_job() {
    std::unique_ptr<Store> running = locked();
    ASSERT_TRUE(running->begin_run(step(kJob, {"worker[1]"})).ok());
  }
  // A process that holds the job's lease and waits to be killed.
  pid_t supervisor() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::unique_ptr<Store> own = store();
      auto lease = own->lease_job(kJob, "apply", false, Stop());
      (void)!::write(ready[1], lease.ok() ? "y" : "n", 1);
      while (true) ::pause();
    }
    char answer = 0;
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
    return child;
  }
};

TEST_F(LeaseTest, IsHeldWithoutTheStatesLockAndGoesWithItsHolder) {
  begin_job();
  const pid_t child = supervisor();
  std::unique_ptr<Store> other = locked();  // the state's lock is free
  EXPECT_EQ(other->lease_job(kJob, "apply", false, Stop()).status().code(), Code::Conflict);
  EXPECT_EQ((*other->supervisor(kJob))->pid, child);
  const Snapshot now = *other->snapshot();
  EXPECT_EQ(now.supervised.count(kJob), 1u);
  EXPECT_EQ(now.open_intents, 0u) << "nothing is left over: somebody is at it";
  EXPECT_FALSE(now.interrupted());
  EXPECT_TRUE(other->open_intents()->empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(other->supervisor(kJob)->has_value());
  EXPECT_EQ(other->snapshot()->open_intents, 1u);
  EXPECT_EQ(other->open_intents()->size(), 1u);
  EXPECT_TRUE(other->lease_job(kJob, "apply", false, Stop()).ok());
}

TEST_F(LeaseTest, WhoeverTakesItOverWaitsUntilTheHolderLetsGo) {
  std::unique_ptr<Store> first = store(), second = store();
  auto lease = first->lease_job(kJob, "apply", false, Stop());
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE((*lease)->still_held().ok());
  std::unique_ptr<JobLease> taken;
  std::thread taker([&] { taken = std::move(*second->lease_job(kJob, "destroy", true, Stop())); });
  while ((*lease)->still_held().ok()) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ((*lease)->still_held().code(), Code::Conflict);
  (*lease).reset();
  taker.join();
  EXPECT_TRUE(taken->still_held().ok());
  EXPECT_EQ((*first->supervisor(kJob))->command, "destroy");
}

TEST_F(LeaseTest, AHolderThatDoesNotLetGoKeepsIt) {
  std::unique_ptr<Store> first = store(), second = store();
  auto lease = first->lease_job(kJob, "apply", false, Stop());
  ASSERT_TRUE(lease.ok());
  EXPECT_FALSE(second->lease_job(kJob, "destroy", true, Stop::when([] { return true; })).ok());
  EXPECT_TRUE((*lease)->still_held().ok()) << "whoever asked for it has given up";
}

TEST_F(LeaseTest, OfAnotherJobIsAnotherOne) {
  std::unique_ptr<Store> own = store();
  auto one = own->lease_job(kJob, "apply", false, Stop());
  auto other = own->lease_job("program/solve", "apply", false, Stop());
  EXPECT_TRUE(one.ok() && other.ok());
}

TEST_F(LeaseTest, WhoseFileCannotBeOpenedIsAnError) {
  std::unique_ptr<Store> own = store();
  std::filesystem::create_directories(directory() + "/demo/" + lease_name(kJob));
  const Status refused = own->lease_job(kJob, "apply", false, Stop()).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.code(), Code::Conflict) << "nobody holds it";
}

}  // namespace
}  // namespace radl
