// Auto-stop: what a file may ask for, and the script itself, run in a process tree of its own.
#include "runtime/clouds/auto_stop.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

#include "common/files.h"
#include "common/shell_quote.h"
#include "tests/support/temporary_folder.h"

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

TEST(AutoStop, AnInvalidTimeIsRejected) {
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

AutoStop never_busy(double after, double idle) {
  AutoStop stop;
  stop.after_seconds = after;
  stop.idle_seconds = idle;
  stop.load = 10000;  // other tests load this computer
  return stop;
}

// The script runs for real, as the first process's child in a process tree of its own, with files of its own.
class Tree {
 public:
  explicit Tree(std::string folder) : folder_(std::move(folder)) {
    EXPECT_TRUE(make_directories(folder_ + "/home/.radl/lease").ok());
    EXPECT_TRUE(make_directories(folder_ + "/kept").ok());
    EXPECT_TRUE(
        write_file_atomic(folder_ + "/passwd", "root:x:0:0:root:" + folder_ + "/home:/bin/sh\n").ok());
  }
  // Until the tree is gone; it is ended after `most` seconds. `beside`: a command that runs in it as well.
  void live(const AutoStop& stop, int most, const std::string& beside = ":") {
    EXPECT_TRUE(write_file_atomic(folder_ + "/script", auto_stop_script(stop, StopsBy::Init, 1), 0755).ok());
    // The first process ends by TERM as sshd does.
    const std::string inside = "mount --bind " + folder_ + "/passwd /etc/passwd\n" + own_var() + beside +
                               "\nsh " + folder_ + "/script & trap 'exit 7' TERM; i=0; while [ $i -lt " +
                               std::to_string(most * 10) + " ]; do sleep 0.1; i=$((i+1)); done; exit 3";
    const int status = std::system(("unshare --pid --fork --kill-child --mount-proc --mount sh -c " +
                                    shell_quote(inside) + " > /dev/null 2>&1 < /dev/null")
                                       .c_str());
    ended_ = WEXITSTATUS(status);
  }
  bool ended_itself() const { return ended_ == 7; }
  bool was_ended() const { return ended_ == 3; }
  // A /var/lib of its own, of which only the script's folder is kept.
  std::string own_var() const {
    return "mount -t tmpfs tmpfs /var/lib; mkdir /var/lib/radl-auto-stop; mount --bind " + folder_ +
           "/kept /var/lib/radl-auto-stop\n";
  }
  std::string why() const {
    Result<std::string> text = read_file(folder_ + "/kept/why");
    return text.ok() ? *text : "";
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  int ended_ = 0;
};

struct Script : testing::Test {
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make the namespaces that the script is tried in";
    if (std::system("unshare --pid --fork --mount-proc --mount true 2>/dev/null") != 0)
      GTEST_SKIP() << "namespaces of processes and mounts cannot be made here";
  }
  // Trees that live at the same time: each does little but sleep.
  void at_once(std::initializer_list<std::function<void(Tree)>> lives) {
    std::vector<std::thread> threads;
    for (const auto& life : lives) {
      Tree tree(folder_.path(std::to_string(threads.size())));
      threads.emplace_back([life, tree] { life(tree); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  test::TemporaryFolder folder_;
};

constexpr int kLong = 60, kShort = 8;  // seconds, beside the two that the script is given

TEST_F(Script, EndsItWhenItsTimeIsOverOrNothingIsDone) {
  at_once({[](Tree tree) {
             tree.live(never_busy(2, 0), kLong);
             EXPECT_TRUE(tree.ended_itself());
             EXPECT_EQ(tree.why(), "its 2 s have passed\n");
           },
           [](Tree tree) {
             tree.live(never_busy(0, 2), kLong);
             EXPECT_TRUE(tree.ended_itself());
             EXPECT_EQ(tree.why(), "it was idle for 2 s\n");
           },
           [](Tree tree) {
             tree.live(never_busy(0, 2), kLong, ": > " + tree.folder() + "/home/.radl/lease/999999");
             EXPECT_TRUE(tree.ended_itself()) << "a lease of a process that is gone is none";
           },
           [](Tree tree) {
             EXPECT_TRUE(write_file_atomic(tree.folder() + "/kept/lived", "3600\n").ok());
             tree.live(never_busy(3601, 0), kLong);
             EXPECT_TRUE(tree.ended_itself()) << "its life goes on after a boot";
           }});
}

TEST_F(Script, StepsTrainingsLoginsAndALoadAreWork) {
  at_once({[](Tree tree) {
             // An entry of a lease, named by its process (runtime/net/lease.h).
             tree.live(never_busy(0, 2), kShort, "sleep 60 & : > " + tree.folder() + "/home/.radl/lease/$!");
             EXPECT_TRUE(tree.was_ended()) << "a step: " << tree.why();
           },
           [](Tree tree) {
             const std::string engine = tree.folder() + "/radl-train";
             tree.live(never_busy(0, 2), kShort, "cp /bin/sleep " + engine + "; " + engine + " 60 &");
             EXPECT_TRUE(tree.was_ended()) << "a training: " << tree.why();
           },
           [](Tree tree) {
             tree.live(never_busy(0, 2), kShort, "script -qc 'sleep 60' /dev/null &");
             EXPECT_TRUE(tree.was_ended()) << "somebody who is logged in: " << tree.why();
           },
           [](Tree tree) {
             AutoStop stop = never_busy(0, 2);
             stop.load = 0;  // any
             tree.live(stop, kShort);
             EXPECT_TRUE(tree.was_ended()) << "a load: " << tree.why();
           }});
}

// "PID START BOOT" of `sleep 60`, as the shell around a task or a program writes it.
std::string process_file(const std::string& path, const std::string& boot = "$boot") {
  return "read -r boot < /proc/sys/kernel/random/boot_id; sleep 60 & p=$!; read -r line < /proc/$p/stat; "
         "set -- ${line##*) }; echo \"$p ${20} " +
         boot + "\" > " + path;
}

TEST_F(Script, TasksAndProgramsAreWorkAndSoIsARadlcThatFollowsAFarm) {
  const auto folder_in = [](const Tree& tree) {
    const std::string folder = tree.folder() + "/home/.radl/jobs/j-1/farm";
    EXPECT_TRUE(make_directories(folder).ok());
    return folder;
  };
  at_once({[&](Tree tree) {
             tree.live(never_busy(0, 2), kShort, process_file(folder_in(tree) + "/../t.1.pid"));
             EXPECT_TRUE(tree.was_ended()) << "a task: " << tree.why();
           },
           [&](Tree tree) {
             tree.live(never_busy(0, 2), kLong, process_file(folder_in(tree) + "/../t.1.pid", "earlier"));
             EXPECT_TRUE(tree.ended_itself()) << "a task of an earlier boot";
           },
           [&](Tree tree) {
             tree.live(never_busy(0, 2), kShort,
                       "read -r up idle < /proc/uptime; echo ${up%%.*} > " + folder_in(tree) + "/heard");
             EXPECT_TRUE(tree.was_ended()) << "radlc follows it: " << tree.why();
           },
           [&](Tree tree) {
             tree.live(
                 never_busy(0, 2), kLong,
                 "read -r up idle < /proc/uptime; echo $((${up%%.*} - 200)) > " + folder_in(tree) + "/heard");
             EXPECT_TRUE(tree.ended_itself()) << "radlc was not heard for a while";
           },
           [&](Tree tree) {
             tree.live(never_busy(0, 2), kLong, "echo 999999999 > " + folder_in(tree) + "/heard");
             EXPECT_TRUE(tree.ended_itself()) << "heard before a boot";
           }});
}

TEST_F(Script, AComputerThatNoCloudHasMadeIsNeverSwitchedOff) {
  const Tree tree(folder_.path("tree"));
  const std::string script = tree.folder() + "/shutdown-script", programs = tree.folder() + "/bin";
  ASSERT_TRUE(make_directories(programs).ok());
  for (const char* program : {"shutdown", "systemctl", "poweroff"})
    ASSERT_TRUE(
        write_file_atomic(programs + "/" + program, "#!/bin/sh\n: > " + tree.folder() + "/called\n", 0755)
            .ok());
  ASSERT_TRUE(write_file_atomic(script, auto_stop_script(never_busy(1, 0), StopsBy::Shutdown, 1), 0755).ok());
  const std::string inside = tree.own_var() + "exec sh " + script;
  const int status = std::system(("PATH=" + programs + ":$PATH timeout 30 unshare --mount sh -c " +
                                  shell_quote(inside) + " 2> " + tree.folder() + "/said")
                                     .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_FALSE(std::filesystem::exists(tree.folder() + "/called"));
  EXPECT_NE(read_file(tree.folder() + "/said")->find("no machine of a cloud"), std::string::npos);
}

}  // namespace
}  // namespace radl
