// Locks and leases of a state in a bucket, as two computers use them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/state/store.h"
#include "tests/support/buckets.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
constexpr const char* kTraining = "training/cifar";

class BucketLeaseTest : public testing::Test {
 protected:
  std::unique_ptr<Store> store() {
    auto opened = Store::open("s3://states/p", "demo", OpenMode::Create, world);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return std::move(*opened);
  }
  std::unique_ptr<Store> locked() {
    auto own = store();
    const Status taken = own->lock("apply", milliseconds(0));
    EXPECT_TRUE(taken.ok()) << taken.text();
    return own;
  }

  std::atomic<bool> down{false};
  test::Buckets buckets;
  test::ScriptedServer server{
      [this](const std::string& request) { return down ? "" : buckets.answer(request); }};
  test::TemporaryFolder folder;
  World world{real_world().clock, real_world().files, real_world().random,
              test::Buckets::environment(folder.path("home"), server.url("")).with("RADL_STATE_LEASE", "6")};
};

TEST_F(BucketLeaseTest, IsHeldWithoutTheStatesLock) {
  auto first = locked();
  StepRecord job;
  job.id = kTraining;
  job.kind = "training";
  ASSERT_TRUE(first->begin_run(job).ok());
  auto lease = first->lease_job(kTraining, "apply", false, Stop());
  ASSERT_TRUE(lease.ok()) << lease.status().text();
  first->unlock();
  auto other = locked();
  EXPECT_EQ(other->lease_job(kTraining, "apply", false, Stop()).status().code(), Code::Conflict);
  EXPECT_EQ((*other->supervisor(kTraining))->command, "apply");
  EXPECT_EQ(other->snapshot()->supervised.count(kTraining), 1u);
  EXPECT_EQ(other->snapshot()->open_intents, 0u) << "nothing is left over: somebody is at it";
  lease->reset();
  EXPECT_FALSE(other->supervisor(kTraining)->has_value());
  EXPECT_EQ(other->snapshot()->open_intents, 1u);
  EXPECT_TRUE(other->lease_job(kTraining, "apply", false, Stop()).ok());
}

TEST_F(BucketLeaseTest, AHolderLearnsThatItWasTakenOver) {
  auto first = store(), second = store();
  auto lease = first->lease_job(kTraining, "apply", false, Stop());
  ASSERT_TRUE(lease.ok()) << lease.status().text();
  auto taken = second->lease_job(kTraining, "destroy", true, Stop());
  ASSERT_TRUE(taken.ok()) << taken.status().text();
  while ((*lease)->still_held().ok()) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ((*lease)->still_held().code(), Code::Conflict);
  lease->reset();
  EXPECT_TRUE((*taken)->still_held().ok()) << "whoever lost it does not remove it";
  EXPECT_EQ((*second->supervisor(kTraining))->command, "destroy");
}

TEST_F(BucketLeaseTest, WhoeverWaitsForTheLockWaitsForABucketThatDoesNotAnswer) {
  locked();
  auto own = store();
  EXPECT_FALSE([&] {
    down = true;
    return own->lock("apply", milliseconds(0)).ok();
  }()) << "without a time to wait it fails at once";
  std::thread comes_back([&] {
    std::this_thread::sleep_for(seconds(7));  // one request gives up within half a lease
    down = false;
  });
  const Status taken = own->lock("apply", seconds(300));
  comes_back.join();
  EXPECT_TRUE(taken.ok()) << taken.text();
}

}  // namespace
}  // namespace radl
