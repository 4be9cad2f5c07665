// Further disks on real block devices (loop devices, in a mount namespace): formatted once, mounted, in
// fstab.
#include "runtime/exec/disks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "common/files.h"
#include "common/process/process.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

ir::Node node_with(std::vector<ir::Disk> disks) {
  ir::Node node;
  node.disks = std::move(disks);
  return node;
}

ir::Disk disk(int index, const std::string& device, const std::string& fstype, const std::string& path) {
  ir::Disk one;
  one.index = index;
  one.device = device;
  one.fstype = fstype;
  one.mount_path = path;
  return one;
}

TEST(Disks, OnlyAttachedVolumesWithDeviceFstypeAndPathAreMountedOuterPathsFirst) {
  const Json attributes = {{"volumes", {{"a", "vol-0"}, {"b", "vol-1"}, {"c", "vol-2"}, {"d", "vol-3"}}}};
  const ir::Node node = node_with({disk(0, "hda", "ext4", "/"), disk(1, "hdb", "ext4", "/data/inner"),
                                   disk(2, "sdc", "xfs", "/data"), disk(3, "hdd", "", "/none"),
                                   disk(4, "hde", "ext4", "/not-attached")});
  const auto mounts = disks_to_mount(node, attributes);
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].path, "/data");
  EXPECT_EQ(mounts[0].volume, "vol-2");
  EXPECT_EQ(mounts[1].path, "/data/inner");
  EXPECT_TRUE(disks_to_mount(node, Json::object()).empty()) << "a cloud that mounts its disks itself";
}

// A loop device that shows as an NVMe disk of the volume "vol-0abc", under another name than was asked for.
class DisksOnDevices : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* below : {"sys/nvme0n1/device", "sys/nvme1n1/device", "dev", "mnt"})
      std::filesystem::create_directories(folder.path(below));
    ASSERT_TRUE(write_file_atomic(folder.path("sys/nvme0n1/device/serial"), "vol0fff              \n").ok());
    ASSERT_TRUE(write_file_atomic(folder.path("sys/nvme1n1/device/serial"), "vol0abc              \n").ok());
    ASSERT_TRUE(write_file_atomic(folder.path("fstab"), "# mine\nUUID=root / ext4 defaults 0 1\n").ok());
    if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    auto attached = shell("truncate -s 64M '" + folder.path("image") + "' && losetup -f --show '" +
                          folder.path("image") + "'");
    if (attached.exit_status != 0) GTEST_SKIP() << "no loop devices here: " << attached.err;
    device = attached.out.substr(0, attached.out.find('\n'));
    std::filesystem::create_symlink(device, folder.path("dev/nvme1n1"));
    if (shell("true", true).exit_status != 0) GTEST_SKIP() << "no mount namespace";
  }
  void TearDown() override {
    if (!device.empty()) shell("losetup -d " + device);
  }

  ProcessResult shell(const std::string& text, bool apart = false) {
    ProcessRequest request;
    request.argv = {"sh", "-c", text};
    if (apart) request.argv.insert(request.argv.begin(), {"unshare", "--mount", "--propagation", "private"});
    auto ran = run_process(environment_of_process(), request);
    EXPECT_TRUE(ran.ok());
    return ran.ok() ? *ran : ProcessResult{};
  }
  // Runs the script, and then the checks while its namespace's mounts exist.
  ProcessResult set_up(const std::string& fstype, const std::string& then) {
    DiskPlaces places;
    places.devices = folder.path("dev");
    places.blocks = folder.path("sys");
    places.fstab = folder.path("fstab");
    const std::string script =
        disk_script({{1, "vol-0abc", 'b', fstype, fstype == "swap" ? "" : folder.path("mnt/data")}}, places);
    EXPECT_TRUE(write_file_atomic(folder.path("script"), script).ok());
    return shell("sh '" + folder.path("script") + "' && " + then, true);
  }

  test::TemporaryFolder folder{test::TemporaryFolder::Place::Disk};
  std::string device;
};

TEST_F(DisksOnDevices, AnEmptyVolumeIsFormattedOnceAndFoundByItsSerialNumber) {
  const std::string data = folder.path("mnt/data");
  auto first = set_up(
      "ext4", "echo kept > " + data + "/file && sh " + folder.path("script") + " && stat -f -c %T " + data);
  ASSERT_EQ(first.exit_status, 0) << first.err;
  EXPECT_EQ(first.out, "ext2/ext3\n");
  const std::string fstab = *read_file(folder.path("fstab"));
  EXPECT_TRUE(fstab.starts_with("# mine\nUUID=root / ext4 defaults 0 1\nUUID=")) << fstab;
  EXPECT_EQ(std::count(fstab.begin(), fstab.end(), '\n'), 3) << "a second run adds nothing";
  EXPECT_NE(fstab.find(" " + data + " ext4 defaults,nofail 0 2\n"), std::string::npos) << fstab;
  // The machine starts again: what is on the volume stays.
  auto again = set_up("ext4", "cat " + data + "/file");
  EXPECT_EQ(again.out, "kept\n") << again.err;
  EXPECT_EQ(*read_file(folder.path("fstab")), fstab);
}

TEST_F(DisksOnDevices, AnotherFileSystemIsMountedUnchangedAndAPartitionTableIsKept) {
  ASSERT_EQ(shell("mkfs.ext2 -q -L mine " + device).exit_status, 0);
  auto mounted = set_up("ext4", "true");
  EXPECT_EQ(mounted.exit_status, 0) << mounted.err;
  EXPECT_EQ(shell("blkid -p -o value -s LABEL " + device).out, "mine\n");
  EXPECT_NE(set_up("swap", "true").exit_status, 0) << "a file system is never made swap";
  shell("wipefs -aq " + device);
  // One partition of type 83 from sector 2048 on, and the table's mark.
  shell("printf '\\000\\000\\000\\000\\203\\000\\000\\000\\000\\010\\000\\000\\000\\000\\001\\000' | dd of=" +
        device + " bs=1 seek=446 2>&1; printf '\\125\\252' | dd of=" + device + " bs=1 seek=510 2>&1");
  auto refused = set_up("ext4", "true");
  EXPECT_NE(refused.exit_status, 0);
  EXPECT_NE(refused.err.find("disk.1: volume vol-0abc carries a partition table (dos)"), std::string::npos)
      << refused.err;
}

}  // namespace
}  // namespace radl
