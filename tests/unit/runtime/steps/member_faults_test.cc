// A job's folder on a node where commands fail: what is not known for sure is an error, and never an
// answer that starts or ends something.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/steps/jobs/member.h"
#include "tests/support/faulty_remote.h"
#include "tests/support/test_nodes.h"
#include "tests/support/wait_until.h"

namespace radl::jobs {
namespace {

using test::FaultyRemote;
using test::When;

struct MemberFaultTest : testing::Test {
  MemberFaultTest() : machine(made_home()), remote(machine) {
    node.address = "worker[0]";
    node.attributes = Json::object();
    node.connect = [this]() -> Result<Remote*> { return &remote; };
    // A process that looks like a running task, one that has ended, and one whose disk was full at its end.
    std::string made = remote.shell(R"sh(set -e
mkdir -p ~/.radl/jobs/t/model
cd ~/.radl/jobs/t
echo RUN > run.json
setsid sh -c 'sleep 600; : job-worker-0.json' </dev/null >/dev/null 2>&1 &
p=$!
read -r line < /proc/$p/stat
set -- ${line##*) }
read -r boot < /proc/sys/kernel/random/boot_id
echo "$p ${20} $boot" > worker-0.pid
echo 999999999 > worker-1.pid
echo 3 > worker-1.exit
echo 999999999 > worker-2.pid
: > worker-2.exit
echo weights > model/weights
echo more > model/more
echo made)sh");
    EXPECT_EQ(made, "made\n");
  }
  ~MemberFaultTest() override {
    remote.shell("read -r p rest < ~/.radl/jobs/t/worker-0.pid && kill -KILL -$p $p 2>/dev/null");
  }
  std::string made_home() {
    std::filesystem::create_directories(folder.path("home"));
    return folder.path("home");
  }
  // Calls with each program failing in turn; `check` gets the result of each.
  template <class Call, class Check>
  void each_fault(Call call, Check check) {
    for (int k = 1;; ++k) {
      remote.arm(k, When::Before);
      auto result = call();
      auto calls = remote.disarm();
      SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(calls.size()));
      if (calls.size() < static_cast<size_t>(k)) {
        EXPECT_TRUE(result.ok()) << result.status().text();
        EXPECT_GT(k, 1) << "no fault was met";
        return;
      }
      check(result);
      if (testing::Test::HasFailure()) return;
    }
  }

  test::TemporaryFolder folder;
  test::ProcessRemote machine;
  FaultyRemote remote;
  NodeHandle node;
  Context context{.environment = environment_of_process()};
  Member member{node, context, "t"};
};

TEST_F(MemberFaultTest, AnExitStatusThatIsNotThereIsNoSuccess) {
  auto look = member.look();
  ASSERT_TRUE(look.ok()) << look.status().text();
  EXPECT_EQ(look->run, "RUN");
  EXPECT_EQ(look->of("worker-0").phase, ProcessState::Phase::Running);
  EXPECT_EQ(look->of("worker-1").exit, 3);
  EXPECT_EQ(look->of("worker-2").phase, ProcessState::Phase::Ended);
  EXPECT_EQ(look->of("worker-2").exit, -1) << "an empty file says nothing";
}

TEST_F(MemberFaultTest, ALookThatFailsIsAnError) {
  each_fault([&] { return member.look(); },
             [&](const Result<Member::Look>& look) { EXPECT_FALSE(look.ok()); });
}

TEST_F(MemberFaultTest, DataThatIsThereIsNotBroughtAgain) {
  EXPECT_TRUE(*member.is_empty("~/none"));
  each_fault([&] { return member.is_empty("~/.radl/jobs/t"); },
             [&](const Result<bool>& lacks) { EXPECT_FALSE(lacks.ok() && *lacks); });
}

// Which of the tasks end, as follow() tells it.
TEST_F(MemberFaultTest, ATaskThatRunsIsNotTakenForOneThatEnded) {
  const std::vector<std::string> tasks = {"worker-0", "worker-1", "worker-2"};
  // Every program fails from the first on, again and again, as long as the fault is armed.
  for (int k = 1; k <= 4; ++k) {
    std::vector<std::string> ended;
    Member::Follower follower;
    follower.before = "progress-";
    follower.behind = ".jsonl";
    follower.whose = [](const std::string&) { return std::optional<std::string>(); };
    follower.on_line = [](const std::string&) {};
    follower.on_end = [&](const std::string& file, int exit) {
      ended.push_back(file + " " + std::to_string(exit));
      return false;
    };
    follower.restart = [](const std::vector<std::string>&) { return Status(); };
    follower.stop = [&] { return ended.size() >= 2; };
    remote.arm(k, When::Before);
    Status followed = member.follow(tasks, follower);
    remote.disarm();
    EXPECT_TRUE(followed.ok()) << followed.text();
    EXPECT_EQ(ended, (std::vector<std::string>{"worker-1 3", "worker-2 -1"})) << k;
  }
}

TEST_F(MemberFaultTest, AResultIsFetchedWholeOrNotAtAll) {
  each_fault(
      [&] { return member.fetch("model", folder.path("result")); },
      [&](const Result<Fetched>& fetched) { EXPECT_FALSE(fetched.ok() && fetched->names.size() != 2); });
  EXPECT_EQ(*read_file(folder.path("result/weights")), "weights\n");
  EXPECT_EQ(*read_file(folder.path("result/more")), "more\n");
  auto none = member.fetch("events", folder.path("events"));
  ASSERT_TRUE(none.ok()) << none.status().text();
  EXPECT_TRUE(none->names.empty());
}

TEST_F(MemberFaultTest, ALogAndSmallFilesComeInOneCommand) {
  int commands = 0;
  node.connect = [&]() -> Result<Remote*> {
    ++commands;
    return &remote;
  };
  const std::string log(300000, 'x');  // of several pieces, without an end of its last line
  ASSERT_TRUE(member.put_bytes(log, "worker-0.log", {}).ok());
  ASSERT_TRUE(member.put_bytes(std::string("a\0b\nwhole", 9), "model/bytes", {}).ok());
  ASSERT_TRUE(member.put_bytes("", "model/empty", {}).ok());
  std::string taken;
  const Beforehand first{"worker-0.log", "cd " + folder.path("home") + "; echo renamed",
                         [&](std::string_view piece) { taken += piece; }};
  const auto none = [](const std::vector<Arrival>&) { return Status(); };
  commands = 0;
  auto fetched = member.fetch("model", folder.path("result"), none, first);
  ASSERT_TRUE(fetched.ok()) << fetched.status().text();
  EXPECT_EQ(commands, 1);
  EXPECT_TRUE(taken == log) << taken.size();
  EXPECT_EQ(fetched->said, "renamed\n");
  EXPECT_EQ(fetched->names.size(), 4u);
  EXPECT_EQ(*read_file(folder.path("result/bytes")), std::string("a\0b\nwhole", 9));
  EXPECT_EQ(*read_file(folder.path("result/empty")), "");
  // A large one comes by itself, and without a log there is nothing to take.
  ASSERT_TRUE(member.put_bytes(std::string(200000, 'y'), "model/large", {}).ok());
  taken.clear();
  fetched = member.fetch("model", folder.path("result"), none, {"none.log", "", first.take});
  ASSERT_TRUE(fetched.ok()) << fetched.status().text();
  EXPECT_EQ(read_file(folder.path("result/large"))->size(), 200000u);
  EXPECT_EQ(taken, "");
  // What runs first may fail.
  EXPECT_FALSE(member.fetch("model", folder.path("result"), none, {"", "exit 3", {}}).ok());
}

TEST_F(MemberFaultTest, LogsThatAreKeptTakeNoOthersPlace) {
  for (const char* text : {"first", "second"}) {
    ASSERT_TRUE(member.put_bytes(text, "worker-0.log", {}).ok());
    Member another(node, context, "t");  // of a radlc that knows nothing of earlier attempts
    ASSERT_TRUE(another.keep_logs().ok());
  }
  EXPECT_EQ(remote.shell("cat ~/.radl/jobs/t/worker-0.log.1"), "first");
  EXPECT_EQ(remote.shell("cat ~/.radl/jobs/t/worker-0.log.2"), "second");
}

TEST_F(MemberFaultTest, FilesThatComeSoonAreWholeWhicheverCommandTakesThem) {
  constexpr int kFiles = 40;
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) EXPECT_TRUE(member.exec(":").ok());
  });
  for (int i = 0; i < kFiles; ++i) {
    member.put_soon("one-" + std::to_string(i), "soon-" + std::to_string(2 * i), 0600);
    member.put_soon("another-" + std::to_string(i), "soon-" + std::to_string(2 * i + 1), 0600);
    EXPECT_TRUE(member.exec(":").ok());
  }
  over = true;
  other.join();
  for (int i = 0; i < kFiles; ++i) {
    EXPECT_EQ(*member.read("soon-" + std::to_string(2 * i), 100), "one-" + std::to_string(i));
    EXPECT_EQ(*member.read("soon-" + std::to_string(2 * i + 1), 100), "another-" + std::to_string(i));
  }
}

TEST_F(MemberFaultTest, AFolderThatCannotBeClearedIsAnError) {
  each_fault(
      [&]() -> Result<bool> {
        if (Status s = member.clear("job-* model progress-*"); !s.ok()) return s;
        return true;
      },
      [&](const Result<bool>& cleared) {
        if (cleared.ok()) {
          EXPECT_EQ(remote.shell("ls -A ~/.radl/jobs/t"), "");
        }
      });
}

// radlc was killed between the start and the first look.
TEST_F(MemberFaultTest, AJobThatNobodyFollowsIsKilledByItsNode) {
  ASSERT_TRUE(member.clear("").ok());
  ASSERT_TRUE(member.start({{"worker-0", "sleep 600"}}, std::chrono::seconds(1)).ok());
  EXPECT_EQ(member.look()->of("worker-0").phase, ProcessState::Phase::Running);
  EXPECT_TRUE(test::wait_until([&] { return !member.look()->runs(); }, std::chrono::seconds(60)));
}

TEST_F(MemberFaultTest, AJobThatIsFollowedGoesOn) {
  ASSERT_TRUE(member.clear("").ok());
  ASSERT_TRUE(member.start({{"worker-0", "true"}}, std::chrono::seconds(600)).ok());
  Member::Follower follower;
  follower.bound = true;
  follower.behind = ".log";
  follower.whose = [](const std::string&) { return std::optional<std::string>(); };
  follower.on_line = [](const std::string&) {};
  follower.on_end = [](const std::string&, int) { return false; };
  follower.restart = [](const std::vector<std::string>&) { return Status(); };
  follower.stop = [] { return false; };
  ASSERT_TRUE(member.follow({"worker-0"}, follower).ok());
  ASSERT_TRUE(member.start({{"worker-0", "sleep 600"}}, std::chrono::seconds(0)).ok());
  // Nothing tells when the node has decided to kill nothing. A wrong kill comes at once; a right run never
  // depends on this time.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_TRUE(member.look()->runs()) << "its follower has been there";
}

}  // namespace
}  // namespace radl::jobs
