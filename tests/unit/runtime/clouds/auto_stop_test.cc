// Auto-stop: what a file may ask for, and the script itself, run in a process tree of its own.
#include "runtime/clouds/auto_stop.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "common/files.h"
#include "common/shell_quote.h"

namespace radl {
namespace {

ir::Node node_with(const std::map<std::string, std::string>& texts, std::optional<double> load = {}) {
  ir::Node node;
  node.address = "a[0]";
  for (const auto& [feature, text] : texts) node.requirements[feature].equals = text;
  if (load) node.requirements["stop.load"].min = node.requirements["stop.load"].max = load;
  return node;
}

TEST(AutoStop, WhatAFileAsksFor) {
  auto stop =
      auto_stop_wanted(node_with({{"stop.after", "8h"}, {"stop.idle", "30m"}, {"stop.action", "stop"}}, 0.5));
  ASSERT_TRUE(stop.ok() && *stop) << stop.status().text();
  EXPECT_EQ((*stop)->after_seconds, 8 * 3600);
  EXPECT_EQ((*stop)->idle_seconds, 1800);
  EXPECT_EQ((*stop)->load, 0.5);
  EXPECT_FALSE((*stop)->terminate);
  EXPECT_EQ(to_json(auto_stop_from_json(to_json(**stop))), to_json(**stop));
  EXPECT_EQ(auto_stop_text(**stop), "stops itself after 8 h, or 30 min without work");
  EXPECT_FALSE(*auto_stop_wanted(node_with({})));
}

TEST(AutoStop, WhatIsNoTimeIsRefused) {
  for (const char* wrong : {"", "8", "h", "30 seconds", "1s", "-1h", "9999d", "infh", "8h;reboot"})
    EXPECT_FALSE(auto_stop_wanted(node_with({{"stop.after", wrong}})).ok()) << wrong;
  EXPECT_NE(auto_stop_wanted(node_with({{"stop.after", "soon"}}))
                .status()
                .message()
                .find("a[0]: stop.after = 'soon'"),
            std::string::npos);
  EXPECT_FALSE(auto_stop_wanted(node_with({{"stop.after", "8h"}, {"stop.action", "explode"}})).ok());
  EXPECT_FALSE(auto_stop_wanted(node_with({{"stop.action", "stop"}})).ok());
}

TEST(AutoStop, IsShellThatNeedsNothingButAShell) {
  AutoStop stop;
  stop.after_seconds = 3600;
  const std::string path = testing::TempDir() + "auto-stop-syntax";
  for (const std::string& text : {auto_stop_script(stop, StopsBy::Shutdown), auto_stop_user_data(stop)}) {
    ASSERT_TRUE(write_file_atomic(path, text).ok());
    EXPECT_EQ(std::system(("/bin/sh -n " + path).c_str()), 0) << text;
  }
}

// The script runs for real, as the first process's child in a process tree of its own, with files of its own.
struct Script : testing::Test {
  void SetUp() override {
    if (geteuid() != 0 || std::system("unshare --pid --fork --mount-proc --mount true 2>/dev/null") != 0)
      GTEST_SKIP() << "needs to be root, and namespaces";
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(make_directories(folder_ + "/home/.radl/lease").ok());
    ASSERT_TRUE(make_directories(folder_ + "/kept").ok());
    ASSERT_TRUE(
        write_file_atomic(folder_ + "/passwd", "root:x:0:0:root:" + folder_ + "/home:/bin/sh\n").ok());
  }
  // Seconds until the tree is gone; it is ended after `most`. `beside`: a command that runs in it as well.
  double lives(const AutoStop& stop, int most, const std::string& beside = ":") {
    EXPECT_TRUE(write_file_atomic(folder_ + "/script", auto_stop_script(stop, StopsBy::Init, 1), 0755).ok());
    // The first process ends by TERM as sshd does.
    const std::string inside = "mount --bind " + folder_ + "/passwd /etc/passwd\n" + own_var() + beside +
                               "\nsh " + folder_ + "/script & trap 'exit 7' TERM; i=0; while [ $i -lt " +
                               std::to_string(most * 10) + " ]; do sleep 0.1; i=$((i+1)); done; exit 3";
    const auto begun = std::chrono::steady_clock::now();
    const int status = std::system(("unshare --pid --fork --kill-child --mount-proc --mount sh -c " +
                                    shell_quote(inside) + " > /dev/null 2>&1 < /dev/null")
                                       .c_str());
    ended_ = WEXITSTATUS(status);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }
  // A /var/lib of its own, of which only the script's folder is kept.
  std::string own_var() const {
    return "mount -t tmpfs tmpfs /var/lib; mkdir /var/lib/radl-auto-stop; mount --bind " + folder_ +
           "/kept /var/lib/radl-auto-stop\n";
  }
  std::string why() { return read_file(folder_ + "/kept/why").ok() ? *read_file(folder_ + "/kept/why") : ""; }
  const std::string folder_ = "/tmp/radl-auto-stop-test-" + std::to_string(getpid());
  int ended_ = 0;
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

AutoStop never_busy(double after, double idle) {
  AutoStop stop;
  stop.after_seconds = after;
  stop.idle_seconds = idle;
  stop.load = 10000;  // other tests load this computer
  return stop;
}

TEST_F(Script, EndsItAfterItsTime) {
  lives(never_busy(2, 0), 60);
  EXPECT_EQ(ended_, 7);
  EXPECT_EQ(why(), "its 2 s are over\n");
}

TEST_F(Script, EndsItWhenNothingIsDone) {
  lives(never_busy(0, 2), 60);
  EXPECT_EQ(ended_, 7);
  EXPECT_EQ(why(), "nothing was done on it for 2 s\n");
}

TEST_F(Script, AStepThatRunsIsWork) {
  // An entry of a lease, named by its process (runtime/net/lease.h).
  lives(never_busy(0, 2), 8, "sleep 60 & : > " + folder_ + "/home/.radl/lease/$!");
  EXPECT_EQ(ended_, 3) << why();
}

TEST_F(Script, AnEntryOfAProcessThatIsGoneIsNone) {
  lives(never_busy(0, 2), 60, ": > " + folder_ + "/home/.radl/lease/999999");
  EXPECT_EQ(ended_, 7);
}

TEST_F(Script, ATrainingIsWork) {
  lives(never_busy(0, 2), 8, "cp /bin/sleep " + folder_ + "/radl-train; " + folder_ + "/radl-train 60 &");
  EXPECT_EQ(ended_, 3) << why();
}

TEST_F(Script, SomebodyWhoIsLoggedInIsWork) {
  lives(never_busy(0, 2), 8, "script -qc 'sleep 60' /dev/null &");
  EXPECT_EQ(ended_, 3) << why();
}

TEST_F(Script, ALoadIsWork) {
  AutoStop stop = never_busy(0, 2);
  stop.load = 0;  // any
  lives(stop, 8);
  EXPECT_EQ(ended_, 3) << why();
}

TEST_F(Script, ItsLifeGoesOnAfterABoot) {
  ASSERT_TRUE(write_file_atomic(folder_ + "/kept/lived", "3600\n").ok());
  EXPECT_LT(lives(never_busy(3601, 0), 60), 30);
  EXPECT_EQ(ended_, 7);
}

TEST_F(Script, AComputerThatNoCloudHasMadeIsNeverSwitchedOff) {
  const std::string script = folder_ + "/shutdown-script", programs = folder_ + "/bin";
  ASSERT_TRUE(make_directories(programs).ok());
  for (const char* program : {"shutdown", "systemctl", "poweroff"})
    ASSERT_TRUE(
        write_file_atomic(programs + "/" + program, "#!/bin/sh\n: > " + folder_ + "/called\n", 0755).ok());
  ASSERT_TRUE(write_file_atomic(script, auto_stop_script(never_busy(1, 0), StopsBy::Shutdown, 1), 0755).ok());
  const std::string inside = own_var() + "exec sh " + script;
  const int status = std::system(("PATH=" + programs + ":$PATH timeout 30 unshare --mount sh -c " +
                                  shell_quote(inside) + " 2> " + folder_ + "/said")
                                     .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/called"));
  EXPECT_NE(read_file(folder_ + "/said")->find("no machine of a cloud"), std::string::npos);
}

}  // namespace
}  // namespace radl
