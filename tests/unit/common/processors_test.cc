// Limits of control groups, as a process in a container sees them, from a made-up /proc and /sys.
#include "common/processors.h"

#include <gtest/gtest.h>

#include "common/files.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

class QuotaTest : public testing::Test {
 protected:
  void groups(const std::string& text) { put("/proc/self/cgroup", text); }
  void put(const std::string& path, const std::string& text) {
    std::string whole = folder_.path() + path;
    ASSERT_TRUE(make_directories(whole.substr(0, whole.rfind('/'))).ok());
    ASSERT_TRUE(write_file_atomic(whole, text).ok());
  }
  double quota() const { return processor_quota(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(QuotaTest, WithoutGroupsThereIsNone) {
  EXPECT_EQ(quota(), 0);
  groups("rubbish\n::\n0:\n0::relative\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(QuotaTest, Version2GivesItInOneFile) {
  groups("0::/job\n");
  put("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
  put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  put("/sys/fs/cgroup/job/cpu.max", "20000 0\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(QuotaTest, TheLowestOnTheWayUpCounts) {
  groups("0::/a/b/c\n");
  put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/a/b/c/cpu.max", "900000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(QuotaTest, Version1GivesItInTwo) {
  groups("7:memory:/x\n4:cpu,cpuacct:/docker/1f\n2:cpuset:/y\n");
  put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "50000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0.5);
  put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), 0);
}

// The path is the host's, the mount shows the container's group.
TEST_F(QuotaTest, InAContainerTheMountIsTheGroup) {
  groups("4:cpu:/docker/1f\n0::/docker/1f\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
  put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST(Processors, ThereIsAtLeastOne) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace radl
