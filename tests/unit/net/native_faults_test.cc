// What goes wrong on the node while a native step looks or changes: the step has failed, the next plan shows
// the change again, and nothing else was touched.
#include <gtest/gtest.h>

#include "tests/support/native_steps.h"

namespace radl {
namespace {

using test::contains;
using test::StepsFixture;

struct NativeFaultTest : testing::Test, StepsFixture {};

TEST_F(NativeFaultTest, ACommandThatEndsBadlyHasFailedWhateverItMade) {
  add("command", "touch ~/x; exit 3", {{"creates", "~/x"}});
  EXPECT_TRUE(contains(error().message(), "exit status 3"));
}

TEST_F(NativeFaultTest, ACommandWithoutItsFolderRunsNowhere) {
  add("command", "touch made", {{"directory", "missing"}, {"creates", "made"}});
  add("command", "touch made-too", {{"directory", "missing"}, {"unless", "true"}});
  EXPECT_EQ(observe().size(), 2u);
  ASSERT_TRUE(write_file_atomic(home("made"), "another one").ok());
  EXPECT_EQ(observe().size(), 2u) << "what counts is below its own folder";
  std::filesystem::remove(home("made"));
  EXPECT_TRUE(contains(error().message(), "missing"));
  EXPECT_FALSE(std::filesystem::exists(home("made")));
  EXPECT_FALSE(std::filesystem::exists(home("made-too")));
}

TEST_F(NativeFaultTest, AnOwnerThatDoesNotExistIsAFailure) {
  std::filesystem::create_directories(nodes.folder.path("tree"));
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("tree/one"), "1").ok());
  ASSERT_TRUE(write_file_atomic(home("there"), "kept").ok());
  for (const char* whose : {"owner", "group"}) {
    for (const ir::Resource& one : std::vector<ir::Resource>{
             {"file", "~/there", {{"content", "x"}}, {}},
             {"directory", "~/folder", Json::object(), {}},
             {"upload", "~/single", {{"source", nodes.folder.path("tree/one")}}, {}},
             {"upload", "~/tree", {{"source", nodes.folder.path("tree")}}, {}},
         }) {
      step.resources = {one};
      step.resources[0].properties[whose] = "radl-nobody";
      EXPECT_TRUE(contains(error().message(), "radl-nobody")) << one.name;
      EXPECT_FALSE(observe().empty()) << one.name << ": the next plan shows it again";
    }
  }
  EXPECT_EQ(*read_file(home("there")), "kept");
}

// What needs a machine of its own.
struct IsolatedFaultTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation(false);
    if (IsSkipped()) return;
    steps = std::make_unique<StepsFixture>(local::Isolation::Required);
  }
  std::unique_ptr<StepsFixture> steps;
};

TEST_F(IsolatedFaultTest, AFullDiskLeavesTheOldContent) {
  ASSERT_EQ(steps->shell("mkdir /small && mount -t tmpfs -o size=16k none /small && echo old > /small/file "
                         "&& head -c 96000 /dev/zero | tr '\\0' x > /large && "
                         "echo done"),
            "done\n");
  std::string large(96000, 'x'), source = steps->nodes.folder.path("large");
  ASSERT_TRUE(write_file_atomic(source, large).ok());
  std::filesystem::create_directories(steps->nodes.folder.path("tree"));
  ASSERT_TRUE(write_file_atomic(steps->nodes.folder.path("tree/file"), large).ok());
  for (const ir::Resource& one : std::vector<ir::Resource>{
           {"file", "/small/file", {{"content", large}}, {}},
           {"file", "/small/file", {{"content", std::string(600000, 'x')}}, {}},
           {"upload", "/small/file", {{"source", source}}, {}},
           {"upload", "/small", {{"source", steps->nodes.folder.path("tree")}}, {}},
           {"download", "/small/file", {{"url", "file:///large"}, {"sha256", sha256_hex(large)}}, {}},
       }) {
    steps->step.resources = {one};
    Status failed = steps->error();
    EXPECT_FALSE(failed.ok()) << one.type;
    EXPECT_EQ(steps->shell("head -c 100 /small/file; ls -A /small"), "old\nfile\n")
        << one.type << failed.text();
    EXPECT_FALSE(steps->observe().empty()) << one.type;
  }
}

TEST_F(IsolatedFaultTest, AUserThatCannotBeMadeLeavesNothing) {
  steps->add("user", "radltest",
             {{"group", "no-such-group"}, {"authorized_keys", {"ssh-ed25519 AAAA test"}}});
  EXPECT_TRUE(contains(steps->error().message(), "no-such-group"));
  EXPECT_EQ(steps->shell("ls -d /.ssh /home/radltest 2>/dev/null; getent passwd radltest"), "");
  EXPECT_FALSE(steps->observe().empty());
}

TEST_F(IsolatedFaultTest, KeysAreNotWrittenWhereThereIsNoHome) {
  ASSERT_EQ(steps->shell("useradd -M -d / rooty && useradd -M -d /gone homeless && echo "
                         "'none:x:4321:100:::/bin/sh' >> /etc/passwd; echo done"),
            "done\n");
  for (const char* name : {"rooty", "homeless", "none"}) {
    steps->step.resources = {{"user", name, {{"authorized_keys", {"ssh-ed25519 AAAA test"}}}, {}}};
    EXPECT_TRUE(contains(steps->error().message(), "home")) << name;
    EXPECT_EQ(steps->shell("ls -d /.ssh /gone 2>/dev/null"), "") << name;
  }
}

TEST_F(IsolatedFaultTest, ADeviceThatDoesNotMountIsNotInFstab) {
  ASSERT_EQ(steps->shell("printf '# mine\\nnone /other tmpfs defaults 0 0\\n' > /etc/fstab; echo done"),
            "done\n");
  steps->add("mount", "/data", {{"device", "/dev/radl-missing"}, {"fstype", "ext4"}});
  EXPECT_FALSE(steps->error().ok());
  EXPECT_EQ(steps->shell("cat /etc/fstab; ls /etc/fstab*"),
            "# mine\nnone /other tmpfs defaults 0 0\n/etc/fstab\n")
      << "a machine with a wrong line in it may not start again";
  EXPECT_FALSE(steps->observe().empty());
}

}  // namespace
}  // namespace radl
