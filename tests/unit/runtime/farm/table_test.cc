#include "runtime/farm/table.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/farm/farm.h"
#include "runtime/farm/journal.h"

namespace radl::farm {
namespace {

const Resources kOne{1000, 0, 0, 0};

class FarmTable : public ::testing::Test {
 protected:
  void nodes(int count, int64_t cpu = 1000) {
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(farm.apply(node_event("n" + std::to_string(i), {cpu, 0, 0, 0}, 0)).ok());
  }
  void add(const std::string& name, Resources needs = kOne) {
    ASSERT_TRUE(farm.apply(add_event({name, needs, 0, Json::object()}, now)).ok());
  }
  // Applies what should follow; returns "task@node" of what starts.
  std::vector<std::string> step() {
    std::vector<std::string> started;
    for (const Event& event : farm.next(++now)) {
      EXPECT_TRUE(farm.apply(event).ok());
      if (event["event"] == "start")
        started.push_back(event["task"].get<std::string>() + "@" + event["node"].get<std::string>());
    }
    return started;
  }
  const TaskRecord& task(const std::string& name) { return *farm.table().find(name); }
  void end(const std::string& name, End how, int status = 0) {
    ASSERT_TRUE(farm.apply(end_event(name, task(name).attempt, how, status, "", now)).ok());
  }
  Farm farm;
  double now = 0;
};

TEST_F(FarmTable, ATaskIsSetAsideAfterThreeFailuresOnThreeNodes) {
  nodes(4);
  add("t");
  std::set<std::string> on;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(step().size(), 1u);
    on.insert(task("t").node);
    end("t", End::Failed, 7);
  }
  EXPECT_EQ(on.size(), 3u);
  EXPECT_EQ(task("t").state, State::Failed);
  EXPECT_EQ(task("t").status, 7);
  EXPECT_TRUE(step().empty());
  ASSERT_TRUE(farm.apply(retry_event("t", now)).ok());
  EXPECT_EQ(step().size(), 1u);
}

TEST_F(FarmTable, PreemptionsUseUpNoTry) {
  nodes(1);
  add("t");
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(step().size(), 1u);
    end("t", i % 2 ? End::Preempted : End::Lost);
  }
  EXPECT_EQ(task("t").state, State::Waiting);
  EXPECT_EQ(task("t").preemptions, 20);
}

TEST_F(FarmTable, ALateEndOfAnOldAttemptChangesNothing) {
  nodes(1);
  add("t");
  step();
  end("t", End::Lost);
  step();
  const Json before = farm.table().to_json();
  EXPECT_EQ(farm.apply(end_event("t", 1, End::Succeeded, 0, "", now)).code(), Code::Conflict);
  EXPECT_EQ(farm.apply(commit_event("t", 1, now)).code(), Code::Conflict);
  EXPECT_EQ(farm.apply(metric_event("t", 1, 1, {{"loss", 1}}, now)).code(), Code::Conflict);
  EXPECT_EQ(farm.table().to_json(), before);
  end("t", End::Succeeded);
  EXPECT_TRUE(farm.apply(commit_event("t", 2, now)).ok());
  EXPECT_EQ(farm.apply(commit_event("t", 2, now)).code(), Code::Conflict);
}

TEST_F(FarmTable, ABlackHoleIsQuarantinedAndItsFailuresAreForgiven) {
  nodes(2);
  for (int i = 0; i < 8; ++i) add("t" + std::to_string(i));
  for (int round = 0; round < 12 && !farm.table().is_over(); ++round) {
    for (const std::string& started : step()) {
      const std::string name = started.substr(0, started.find('@'));
      if (started.ends_with("@n1")) {
        end(name, End::Failed, 1);
      } else {
        end(name, End::Succeeded);
        ASSERT_TRUE(farm.apply(commit_event(name, task(name).attempt, now)).ok());
      }
    }
  }
  EXPECT_TRUE(farm.table().nodes().at("n1").quarantined);
  EXPECT_FALSE(farm.table().nodes().at("n0").quarantined);
  EXPECT_EQ(farm.table().count(State::Finished), 8u);
  for (const TaskRecord& each : farm.table().tasks()) EXPECT_TRUE(each.failed_on.empty()) << each.task.name;
}

TEST_F(FarmTable, ATaskThatFailedOnAQuarantinedNodeLastRunsAgain) {
  nodes(3);
  add("t");
  for (int attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_TRUE(farm.apply(start_event("t", attempt, "n" + std::to_string(attempt - 1), ++now)).ok());
    end("t", End::Failed, 1);
  }
  ASSERT_EQ(task("t").state, State::Failed);
  ASSERT_TRUE(farm.apply(quarantine_event("n1", "a black hole", ++now)).ok());
  EXPECT_EQ(task("t").failed_on, (std::vector<std::string>{"n0", "n2"}));
  EXPECT_EQ(step(), std::vector<std::string>{"t@n0"}) << "n1 takes no tasks, and no other node is fresh";
}

TEST_F(FarmTable, WrongTasksQuarantineNoNode) {
  nodes(3);
  for (int i = 0; i < 6; ++i) add("t" + std::to_string(i));
  for (int round = 0; round < 20 && !farm.table().is_over(); ++round) {
    for (const std::string& started : step()) end(started.substr(0, started.find('@')), End::Failed, 1);
  }
  EXPECT_EQ(farm.table().count(State::Failed), 6u);
  for (const auto& [name, node] : farm.table().nodes()) EXPECT_FALSE(node.quarantined) << name;
}

TEST_F(FarmTable, ABigTaskIsNotOvertakenForEver) {
  nodes(1, 2000);
  add("small-0");
  step();
  add("big", {2000, 0, 0, 0});
  bool ran = false;
  std::string running = "small-0";
  for (int i = 1; i < 40 && !ran; ++i) {
    now += 60;
    add("small-" + std::to_string(i));
    const std::string before = running;
    for (const std::string& started : step()) {
      running = started.substr(0, started.find('@'));
      ran = ran || running == "big";
    }
    if (!ran && task(before).state == State::Running) end(before, End::Succeeded);
  }
  EXPECT_TRUE(ran);
}

TEST_F(FarmTable, AWaitingTaskSaysWhatItNeeds) {
  nodes(1);
  add("big", {4000, 0, 0, 0});
  add("gpu", {1000, 0, 1, 0});
  EXPECT_TRUE(step().empty());
  EXPECT_NE(farm.why_waiting(task("big")).find("4 processors"), std::string::npos);
  EXPECT_NE(farm.why_waiting(task("gpu")).find("1 GPU"), std::string::npos);
}

TEST_F(FarmTable, EachTaskHasGpusOfItsOwn) {
  ASSERT_TRUE(farm.apply(node_event("n", {8000, 0, 3, 0}, 0)).ok());
  add("a", {1000, 0, 1, 0});
  add("b", {1000, 0, 2, 0});
  EXPECT_EQ(step().size(), 2u);
  EXPECT_EQ(task("a").devices, (std::vector<int>{0}));
  EXPECT_EQ(task("b").devices, (std::vector<int>{1, 2}));
  end("a", End::Succeeded);
  add("c", {1000, 0, 1, 0});
  EXPECT_EQ(step().size(), 1u);
  EXPECT_EQ(task("c").devices, (std::vector<int>{0}));
}

TEST_F(FarmTable, AnOutputThatIsLostBeforeItsCommitIsMadeAgain) {
  nodes(1);
  add("t");
  step();
  end("t", End::Succeeded);
  end("t", End::Lost);
  EXPECT_EQ(task("t").state, State::Waiting);
  EXPECT_EQ(farm.apply(commit_event("t", 1, now)).code(), Code::Conflict);
  EXPECT_EQ(step().size(), 1u);
  EXPECT_EQ(task("t").attempt, 2);
}

TEST_F(FarmTable, CancelEndsWaitingAndRunningTasks) {
  nodes(1);
  add("a");
  add("b");
  step();
  ASSERT_TRUE(farm.apply(cancel_event("a", now)).ok());
  ASSERT_TRUE(farm.apply(cancel_event("b", now)).ok());
  EXPECT_EQ(task("b").state, State::Cancelled);
  EXPECT_EQ(task("a").state, State::Running);
  end("a", End::Succeeded);
  EXPECT_EQ(task("a").state, State::Cancelled);
  EXPECT_EQ(farm.apply(cancel_event("a", now)).code(), Code::Conflict);
}

// With a node that is lost, or a fetch that fails, nobody is left to bring the output of a stopped trial.
TEST_F(FarmTable, ATaskThatIsLostWhileItIsAskedToEndRunsAgain) {
  for (End how : {End::Lost, End::Preempted}) {
    const std::string name(end_name(how));
    farm = Farm();
    nodes(1);
    add(name);
    step();
    ASSERT_TRUE(farm.apply(stop_event(name, 1, now)).ok());
    end(name, how, -1);
    EXPECT_EQ(task(name).state, State::Waiting) << name;
    EXPECT_FALSE(task(name).uncommitted || task(name).stopping) << name;
    EXPECT_EQ(farm.apply(end_event(name, 1, how, -1, "", now)).code(), Code::Conflict) << name;
    EXPECT_EQ(step().size(), 1u) << name;
  }
}

TEST_F(FarmTable, TheOutputOfAStoppedTaskThatIsLostBeforeItsCommitIsMadeAgain) {
  nodes(1);
  add("t");
  step();
  ASSERT_TRUE(farm.apply(stop_event("t", 1, now)).ok());
  end("t", End::Stopped, 143);
  EXPECT_TRUE(task("t").uncommitted);
  end("t", End::Lost, -1);
  EXPECT_EQ(task("t").state, State::Waiting);
}

TEST_F(FarmTable, AnOutputThatCannotBeBroughtUsesUpATry) {
  nodes(1);
  for (bool stops : {false, true}) {
    const std::string name = stops ? "stopped" : "ended";
    add(name);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(step().size(), 1u);
      if (stops) {
        ASSERT_TRUE(farm.apply(stop_event(name, task(name).attempt, now)).ok());
      }
      end(name, End::Succeeded);
      end(name, End::Failed, -1);
    }
    EXPECT_EQ(task(name).state, State::Failed);
    EXPECT_FALSE(task(name).uncommitted);
  }
}

TEST_F(FarmTable, ATaskThatIsLostFiveTimesInARowIsSetAsideUntilTheNextRun) {
  nodes(1);
  add("t");
  for (int i = 0; i < 4; ++i) {
    step();
    end("t", End::Lost, -1);
  }
  ASSERT_TRUE(farm.apply(farm_event({{"tries", 3}}, now)).ok());  // another run
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(step().size(), 1u) << i;
    end("t", End::Lost, -1);
  }
  EXPECT_EQ(task("t").state, State::Failed);
  EXPECT_TRUE(farm.apply(retry_event("t", now)).ok());
  EXPECT_EQ(task("t").lost, 0);
}

TEST_F(FarmTable, AChangedCommandRunsAgainAndFreesItsRoom) {
  nodes(1);
  add("t");
  step();
  ASSERT_TRUE(farm.apply(change_event({"t", kOne, 0, {{"command", "new"}}}, now)).ok());
  EXPECT_EQ(task("t").state, State::Waiting);
  EXPECT_FALSE(farm.awaits("t", 1));
  EXPECT_EQ(step().size(), 1u);
  EXPECT_TRUE(farm.awaits("t", 2));
  end("t", End::Succeeded);
  ASSERT_TRUE(farm.apply(commit_event("t", 2, now)).ok());
  ASSERT_TRUE(farm.apply(change_event({"t", {500, 0, 0, 0}, 9, {{"command", "new"}}}, now)).ok());
  EXPECT_EQ(task("t").state, State::Finished);  // it needs something else, its output is the same
  ASSERT_TRUE(farm.apply(change_event({"t", kOne, 0, {{"command", "newer"}}}, now)).ok());
  EXPECT_EQ(step().size(), 1u);
}

TEST_F(FarmTable, OtherNeedsOfARunningTaskChangeItsRoom) {
  nodes(1, 2000);
  add("t");
  step();
  ASSERT_TRUE(farm.apply(change_event({"t", {2000, 0, 0, 0}, 0, Json::object()}, now)).ok());
  EXPECT_EQ(task("t").state, State::Running);
  EXPECT_EQ(farm.hosts()[0].remaining.cpu, 0);
  end("t", End::Failed, 1);
  EXPECT_EQ(farm.hosts()[0].remaining.cpu, 2000);
}

TEST_F(FarmTable, ATaskThatTheFileHasAgainRunsAgain) {
  nodes(1);
  add("waiting");
  add("running");
  ASSERT_TRUE(farm.apply(cancel_event("waiting", now, true)).ok());
  EXPECT_TRUE(task("waiting").removed);
  ASSERT_TRUE(farm.apply(retry_event("waiting", now)).ok());
  EXPECT_EQ(task("waiting").state, State::Waiting);
  EXPECT_FALSE(task("waiting").removed);
  step();
  ASSERT_TRUE(farm.apply(cancel_event("waiting", now, true)).ok());
  ASSERT_TRUE(farm.apply(retry_event("waiting", now)).ok());
  end("waiting", End::Succeeded);
  EXPECT_TRUE(task("waiting").uncommitted);
}

TEST_F(FarmTable, TheFileDecidesWhichTasksThereAre) {
  nodes(1);
  auto take = [&](const std::vector<Task>& tasks, bool closed) {
    for (const Event& event : changes_of_file(tasks, farm.table(), closed, now)) (void)farm.apply(event);
  };
  const Task a{"a", kOne, 0, {{"command", "a"}}}, b{"b", kOne, 0, {{"command", "b"}}};
  take({a, b}, false);
  EXPECT_EQ(farm.table().count(State::Waiting), 2u);
  take({a}, false);
  EXPECT_EQ(task("b").state, State::Cancelled);
  take({a, b}, false);
  EXPECT_EQ(task("b").state, State::Waiting);
  ASSERT_TRUE(farm.apply(cancel_event("b", now)).ok());  // by the user: it stays
  take({a, b}, true);
  EXPECT_EQ(task("b").state, State::Cancelled);
  step();
  end("a", End::Succeeded);
  ASSERT_TRUE(farm.apply(commit_event("a", 1, now)).ok());
  take({{"a", kOne, 0, {{"command", "corrected"}}}, b}, true);
  EXPECT_EQ(task("a").state, State::Waiting);
  EXPECT_EQ(task("a").task.spec["command"], "corrected");
}

TEST_F(FarmTable, ATaskThatNoNodeCanRunIsSetAside) {
  nodes(1);
  add("gpu", {1000, 0, 1, 0});
  EXPECT_TRUE(farm.fits_nowhere(task("gpu").task.needs));
  EXPECT_FALSE(farm.fits_nowhere(kOne));
  ASSERT_TRUE(farm.apply(set_aside_event("gpu", farm.why_waiting(task("gpu")), now)).ok());
  EXPECT_EQ(task("gpu").state, State::Failed);
  EXPECT_NE(task("gpu").reason.find("1 GPU"), std::string::npos);
  EXPECT_TRUE(farm.table().is_over());
  EXPECT_TRUE(step().empty());
}

TEST_F(FarmTable, ATaskThatNeedsNoProcessorOvertakesThoseThatDo) {
  nodes(1);
  add("first");
  add("second");
  add("free", {0, 0, 0, 0});
  EXPECT_EQ(step(), (std::vector<std::string>{"first@n0", "free@n0"}));
}

TEST_F(FarmTable, ANodeThatReturnsWithMoreRoomHasIt) {
  nodes(1);
  add("t");
  step();
  nodes(1, 3000);
  EXPECT_EQ(farm.hosts()[0].remaining.cpu, 2000);
}

class FarmJournal : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/farm-journal-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/journal"; }
  std::string folder_;
};

TEST_F(FarmJournal, ATornLastLineIsRemoved) {
  Event added = add_event({"t", kOne, 0, Json::object()}, 1);
  {
    Journal journal;
    ASSERT_TRUE(journal.open(path(), [](const Event&) { return Status(); }).ok());
    journal.add(added);
    ASSERT_TRUE(journal.flush().ok());
  }
  std::ofstream(path(), std::ios::app) << "{\"event\":\"sta";
  for (int i = 0; i < 2; ++i) {
    Journal journal;
    std::vector<Event> seen;
    ASSERT_TRUE(journal
                    .open(path(),
                          [&](const Event& event) {
                            seen.push_back(event);
                            return Status();
                          })
                    .ok());
    EXPECT_EQ(seen.size(), 1u + static_cast<size_t>(i));
    EXPECT_EQ(seen[0], added);
    journal.add(cancel_event("t", 2));
    ASSERT_TRUE(journal.flush().ok());
  }
}

TEST_F(FarmJournal, OneRunAtATime) {
  Journal journal, second;
  ASSERT_TRUE(journal.open(path(), [](const Event&) { return Status(); }).ok());
  EXPECT_EQ(second.open(path(), [](const Event&) { return Status(); }).code(), Code::Conflict);
}

// The file may grow by half a line: as on a full disk.
TEST_F(FarmJournal, AFlushThatFailsLeavesWholeLinesAndIsFinal) {
  Journal journal;
  ASSERT_TRUE(journal.open(path(), [](const Event&) { return Status(); }).ok());
  journal.add(add_event({"t", kOne, 0, Json::object()}, 1));
  ASSERT_TRUE(journal.flush().ok());
  const auto before = std::filesystem::file_size(path());
  rlimit was{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = was;
  small.rlim_cur = before + 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  journal.add(cancel_event("t", 2));
  const Status failed = journal.flush();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(journal.flush().code(), failed.code());
  EXPECT_EQ(std::filesystem::file_size(path()), before);
}

TEST_F(FarmJournal, AnythingElseIsCorrupt) {
  std::ofstream(path()) << "not an event\n";
  Journal journal;
  EXPECT_EQ(journal.open(path(), [](const Event&) { return Status(); }).code(), Code::Corrupt);
}

}  // namespace
}  // namespace radl::farm
