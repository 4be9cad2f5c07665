// The program runner with small shell programs on real nodes: results, losses, retries, joining, secrets.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/program/launch.h"
#include "runtime/steps/program/metrics.h"
#include "runtime/steps/program_runner.h"
#include "runtime/steps/training/result_folder.h"
#include "tests/support/program_bench.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::wait_until;

struct ProgramTest : test::ProgramBench {
  std::string job_file(size_t node, const std::string& below) {
    return handles[node].attributes.at("home").get<std::string>() + "/.radl/jobs/p-aaaaaaaaaaaa/" + below;
  }
  size_t told(const std::string& what) {
    size_t n = 0;
    for (const auto& event : events)
      n += event.kind == "task" && event.data.value("name", "").find(what) != std::string::npos;
    return n;
  }
};

TEST_F(ProgramTest, RunsOnEachNodeAndItsResultsComeBack) {
  program(R"sh(
echo "member $RADL_MEMBER of $RADL_MEMBERS on $RADL_HOST, chief $RADL_CHIEF:$RADL_CHIEF_PORT: $1 $GREETING"
echo '{"loss": 0.5, "test": {"accuracy": 0.25}}'
echo '{"loss": 0.125}'
if [ $RADL_MEMBER = 1 ]; then echo '{"loss": 9, "workers": 2}'; fi
mkdir -p "$RADL_RESULTS/deep"
echo "result of $RADL_MEMBER" > "$RADL_RESULTS/deep/file"
echo model > model.bin
)sh");
  step.program["arguments"] = {"at port $RADL_PORT"};
  step.program["environment"] = {{"GREETING", "it's $RADL_MEMBER 'quoted'"}};
  step.program["outputs"] = {"model.bin"};
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  const Json& output = outcome->output;
  EXPECT_EQ(output.at("exit_status"), 0);
  EXPECT_EQ(output.at("metrics"), (Json{{"loss", 0.125}, {"test.accuracy", 0.25}, {"workers", 2.0}}));
  const std::string results = output.at("results_path");
  EXPECT_EQ(*read_file(results + "/deep/file"), "result of 0\n") << "the chief's";
  EXPECT_EQ(*read_file(results + "/model.bin"), "model\n");
  EXPECT_TRUE(contains(*read_file(results + "/logs/worker[1].log"), "member 1 of 2"));
  EXPECT_TRUE(contains(*read_file(results + "/logs/worker[1].log"), "it's 1 'quoted'"));
  EXPECT_TRUE(contains(log(), "member 0 of 2"));
  EXPECT_FALSE(contains(log(), "$RADL_"));
  EXPECT_EQ(Json::parse(*read_file(results + "/report.json")).at("members").size(), 2u);
  EXPECT_EQ(left(), 0u);
}

TEST_F(ProgramTest, FilesOfSomebodyElseAreNotReplacedByResults) {
  const std::string folder = nodes.folder.path("results");
  ASSERT_TRUE(make_directories(folder).ok());
  ASSERT_TRUE(write_file_atomic(folder + "/.gitignore", "*\n").ok());
  ASSERT_TRUE(write_file_atomic(folder + "/thesis.txt", "mine").ok());
  program("echo other > $RADL_RESULTS/thesis.txt; touch started");
  step.program["outputs"] = {"started"};
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "holds 'thesis.txt', which no program has put there"));
  EXPECT_FALSE(log().find("starts") != std::string::npos);
  EXPECT_EQ(*read_file(folder + "/thesis.txt"), "mine");
  // What it has put there itself, also beside what the user has added since, is no hindrance.
  ASSERT_TRUE(std::filesystem::remove(folder + "/thesis.txt"));
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(write_file_atomic(folder + "/notes.txt", "mine").ok());
  ASSERT_TRUE(std::filesystem::remove(folder + "/report.json"));
  outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(folder + "/thesis.txt"), "other\n");
  EXPECT_EQ(*read_file(folder + "/notes.txt"), "mine");
}

TEST_F(ProgramTest, AFolderThatCannotTakeResultsIsKnownBeforehand) {
  const std::string folder = nodes.folder.path("place");
  ASSERT_TRUE(make_directories(folder).ok());
  ASSERT_TRUE(write_file_atomic(folder + "/file", "").ok());
  ASSERT_EQ(::symlink("nowhere", (folder + "/link").c_str()), 0);
  auto said = [](const std::string& path) { return training::check_result_folder(path).message(); };
  EXPECT_EQ(said(folder), "");
  EXPECT_EQ(said(folder + "/not/yet/there"), "");
  EXPECT_EQ(said(folder + "/file"), "'" + folder + "/file' is to get the results, and is not a folder");
  EXPECT_EQ(said(folder + "/file/deep"),
            "'" + folder + "/file/deep' is to get the results: '" + folder + "/file' is not a folder");
  EXPECT_TRUE(contains(said(folder + "/link"), "and is a link that leads nowhere"));
  EXPECT_TRUE(contains(said(folder + "/link/deep"), "/link' is a link that leads nowhere"));
  // As a user to whom it does not belong; root may write everywhere.
  ::chmod(folder.c_str(), 0555);
  const pid_t child = fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::chmod(nodes.folder.path("").c_str(), 0755) != 0 || ::setuid(65534) != 0))
      _exit(3);
    _exit(contains(said(folder + "/new"), "cannot be written to (Permission denied)") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ::chmod(folder.c_str(), 0755);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ProgramTest, CollectAllBringsEachMembersResults) {
  program("echo $RADL_MEMBER > $RADL_RESULTS/rank");
  step.program["collect"] = "all";
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  const std::string results = outcome->output.at("results_path");
  EXPECT_EQ(*read_file(results + "/worker[0]/rank"), "0\n");
  EXPECT_EQ(*read_file(results + "/worker[1]/rank"), "1\n");
}

TEST_F(ProgramTest, UnchangedFilesAreNotSentAgain) {
  program("echo once");
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(told("program's files"), 2u);
  events.clear();
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(told("program's files"), 0u);
  program("echo changed");
  step.digest = "digest-2";
  step.program["identity"] = std::string(64, 'b');
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(told("program's files"), 2u);
  EXPECT_TRUE(contains(log(), "changed"));
}

TEST_F(ProgramTest, FilesThatChangedSinceThePlanAreRefused) {
  program("echo old");
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("source/run.sh"), "#!/bin/sh\necho new\n", 0755).ok());
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Conflict);
}

TEST_F(ProgramTest, ASecretOfTheEnvironmentIsSeenByTheProgramAlone) {
  nodes.secrets["input.token"] = "s3cr3t-value";
  program(R"sh(
echo "token $TOKEN"
tr '\0' ' ' < /proc/$$/cmdline > "$RADL_RESULTS/arguments"
ls -a "$RADL_SOURCE/.." > "$RADL_RESULTS/files"
echo ${#TOKEN} > "$RADL_RESULTS/length"
)sh");
  step.program["environment"] = {{"TOKEN", "s3cr3t-value"}};
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  const std::string results = outcome->output.at("results_path");
  EXPECT_EQ(*read_file(results + "/length"), "12\n");
  EXPECT_TRUE(contains(log(), "token (sensitive)"));
  for (const std::string& text : {log(), *read_file(results + "/logs/worker[0].log"),
                                  *read_file(results + "/arguments"), outcome->output.dump()})
    EXPECT_EQ(text.find("s3cr3t"), std::string::npos) << text;
  EXPECT_FALSE(contains(*read_file(results + "/files"), "run-member")) << "the script that held it is gone";
}

TEST_F(ProgramTest, AFailureNamesTheNodeTheStatusAndTheLastLines) {
  program("if [ $RADL_MEMBER = 1 ]; then echo 'no such table'; exit 3; fi; sleep 600");
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Invalid) << "the executor does not try it again";
  for (const char* part : {"program 'p'", "worker[1]", "exit status 3", "no such table"})
    EXPECT_TRUE(contains(outcome.status().message(), part));
  EXPECT_EQ(left(), 0u) << "the others were ended";
}

TEST_F(ProgramTest, AnExitStatusMayBeAProduct) {
  program("exit 7");
  step.program["may_fail"] = true;
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(outcome->output.at("exit_status"), 7);
}

TEST_F(ProgramTest, AKilledMemberStartsAllAgainWithTheirCheckpoints) {
  program(R"sh(
echo "attempt $RADL_ATTEMPT"
if [ ! -e "$RADL_CHECKPOINTS/half" ]; then
  echo half > "$RADL_CHECKPOINTS/half"
  echo kept > in-its-folder
  sleep 0.5
  if [ $RADL_MEMBER = 1 ]; then kill -9 $$; fi
  sleep 600
fi
cat in-its-folder > "$RADL_RESULTS/end"
)sh");
  step.program["retries"] = 1;
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/end")), "kept\n");
  EXPECT_TRUE(contains(log(), "was killed"));
  EXPECT_TRUE(contains(log(), "attempt 2"));
  EXPECT_TRUE(contains(*read_file(nodes.folder.path("results/logs/worker[1].attempt-1.log")), "attempt 1"));
  EXPECT_TRUE(contains(*read_file(nodes.folder.path("results/logs/worker[1].log")), "attempt 2"));
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const StepEvent& event) {
    return event.data.value("name", "").starts_with("attempt 1 of 2 failed") &&
           event.data.value("notice", false);
  }));
  EXPECT_EQ(Json::parse(*read_file(nodes.folder.path("results/report.json"))).at("attempts"), 2);
}

TEST_F(ProgramTest, WithLostAloneTheKilledMemberComesBackWhileTheOthersGoOn) {
  program(R"sh(
if [ $RADL_MEMBER = 1 ]; then
  if [ -e "$RADL_CHECKPOINTS/again" ]; then touch "$SHARED"; exit; fi
  touch "$RADL_CHECKPOINTS/again"
  # A worker in a session of its own must not go on beside the new one.
  setsid sleep 600 &
  kill -9 $$
fi
echo "chief begins"
while [ ! -e "$SHARED" ]; do sleep 0.05; done
)sh");
  step.program["environment"] = {{"SHARED", nodes.folder.path("shared")}};
  step.program["lost"] = "alone";
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(told("started again"), 1u);
  const std::string text = log();
  EXPECT_EQ(text.find("chief begins"), text.rfind("chief begins")) << "the chief went on";
  EXPECT_EQ(left(), 0u);
}

TEST_F(ProgramTest, AMemberComesBackByItselfAlsoWhileAnotherDoesNotAnswer) {
  program(R"sh(
if [ $RADL_MEMBER = 1 ]; then
  echo "begins with $*"
  if [ -e "$RADL_CHECKPOINTS/again" ]; then touch "$SHARED"; exit; fi
  touch "$RADL_CHECKPOINTS/again" "$GONE"
  kill -9 $$
fi
while [ ! -e "$SHARED" ]; do sleep 0.05; done
)sh");
  const std::string shared = nodes.folder.path("shared"), gone = nodes.folder.path("gone");
  step.program["environment"] = {{"SHARED", shared}, {"GONE", gone}};
  step.program["lost"] = "alone";
  step.program["resume_arguments"] = {"--resume"};
  handles[0].connect = [connect = handles[0].connect, shared, gone]() -> Result<Remote*> {
    if (read_file(gone).ok() && !read_file(shared).ok()) return Status(Code::Lost, "does not answer");
    return connect();
  };
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(told("started again"), 1u);
  EXPECT_TRUE(contains(log(), "begins with --resume"));
}

TEST_F(ProgramTest, ANodeThatIsKilledIsNoticedAndEndsItClearly) {
  program("echo begun; sleep 600");
  std::chrono::steady_clock::time_point killed, noticed;
  std::mutex mutex;
  context.emit = [&](const StepEvent& event) {
    std::lock_guard lock(mutex);
    if (event.kind == "task" && event.data.value("name", "").starts_with("does not answer"))
      noticed = std::chrono::steady_clock::now();
  };
  std::thread killer([&] {
    wait_until([&] { return contains(log(), "worker[1]  begun"); });
    killed = std::chrono::steady_clock::now();
    for (int pid : processes(1, false)) kill(pid, SIGKILL);
  });
  auto outcome = run();
  killer.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Lost);
  EXPECT_TRUE(contains(outcome.status().message(), "worker[1]"));
  EXPECT_LT(noticed - killed, std::chrono::seconds(5));
  EXPECT_TRUE(processes(0, true).empty()) << "the other member was ended";
}

TEST_F(ProgramTest, ARunOfAKilledRadlcIsJoined) {
  program(R"sh(
echo start >> "$RADL_RESULTS/starts"
while [ ! -e "$SHARED" ]; do sleep 0.05; done
)sh");
  step.program["environment"] = {{"SHARED", nodes.folder.path("shared")}};
  const int child = fork();
  if (child == 0) {
    (void)run();
    _exit(0);
  }
  ASSERT_TRUE(wait_until([&] {
    return read_file(job_file(0, "results/starts")).ok() && read_file(job_file(1, "results/starts")).ok();
  }));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(processes(0, true).size(), 1u) << "the program goes on without us";
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("shared"), "").ok());
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/starts")), "start\n") << "it was not started again";
}

TEST_F(ProgramTest, CancelledItIsAskedToEndFirst) {
  program(
      "trap 'echo asked > \"$RADL_CHECKPOINTS/asked\"; exit 0' USR1; echo begun; while :; do sleep 0.05; "
      "done");
  step.program["stop_signal"] = "USR1";
  std::atomic<bool> stop{false};
  nodes.context.stop = Stop::when([&] { return stop.load(); });
  std::thread user([&] {
    wait_until([&] { return contains(log(), "worker[0]  begun") && contains(log(), "worker[1]  begun"); });
    stop = true;
  });
  auto outcome = run();
  user.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Cancelled);
  EXPECT_TRUE(read_file(job_file(0, "checkpoints/asked")).ok());
  EXPECT_TRUE(read_file(job_file(1, "checkpoints/asked")).ok());
  EXPECT_EQ(left(), 0u);
}

TEST_F(ProgramTest, WhatANodeLacksIsSaidBeforeAnythingStarts) {
  program("touch $RADL_RESULTS/started");
  step.program["needs"] = {{"cpu", 100000}};
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "needs 100000 processors"));
  step.program["needs"] = Json::object();
  step.program["main"] = "run.py";
  step.program["python"]["program"] = "python9";
  outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "'python9' does not run there"));
  EXPECT_FALSE(read_file(job_file(0, "results/started")).ok());
}

TEST_F(ProgramTest, AnOutputThatIsNotThereIsNamed) {
  program("true");
  step.program["outputs"] = {"model.pt"};
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "left no 'model.pt'"));
}

TEST_F(ProgramTest, AProgramThatTakesTooLongIsEnded) {
  program("sleep 600");
  step.program["timeout_seconds"] = 1;
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "was not done within 1 s"));
  EXPECT_EQ(left(), 0u);
}

// ---- the parts

TEST(ProgramMetrics, AreReadFromTensorBoardsFiles) {
  // Two records as tensorboardX writes them: step 0 {"loss": 2.5} and step 1 {"loss": 0.75, "accuracy": 0.5}.
  auto record = [](const std::string& event) {
    auto crc = [](const std::string& bytes) {
      uint32_t sum = ~0u;
      for (char c : bytes) {
        sum ^= static_cast<unsigned char>(c);
        for (int i = 0; i < 8; ++i) sum = sum & 1 ? sum >> 1 ^ 0x82f63b78u : sum >> 1;
      }
      sum = ~sum;
      return (sum >> 15 | sum << 17) + 0xa282ead8u;
    };
    std::string length(8, '\0');
    length[0] = static_cast<char>(event.size());
    const uint32_t of_length = crc(length), of_event = crc(event);
    return length + std::string(reinterpret_cast<const char*>(&of_length), 4) + event +
           std::string(reinterpret_cast<const char*>(&of_event), 4);
  };
  auto value = [](const std::string& tag, float number) {
    std::string inner = "\x0a" + std::string(1, static_cast<char>(tag.size())) + tag + "\x15" +
                        std::string(reinterpret_cast<const char*>(&number), 4);
    return "\x0a" + std::string(1, static_cast<char>(inner.size())) + inner;
  };
  auto event = [](const std::string& values) {
    return "\x10\x01\x2a" + std::string(1, static_cast<char>(values.size())) + values;
  };
  const std::string first = record(event(value("loss", 2.5f)));
  const std::string second = record(event(value("loss", 0.75f) + value("accuracy", 0.5f)));
  program::Metrics metrics;
  ASSERT_TRUE(program::take_event_file(first + second, metrics).ok());
  EXPECT_EQ(metrics, (program::Metrics{{"accuracy", 0.5}, {"loss", 0.75}}));
  metrics.clear();
  ASSERT_TRUE(program::take_event_file(first + second.substr(0, 20), metrics).ok()) << "it is being written";
  EXPECT_EQ(metrics, (program::Metrics{{"loss", 2.5}}));
  EXPECT_EQ(program::take_event_file("this is no file of events", metrics).code(), Code::Corrupt);
}

TEST(ProgramMetrics, NumbersThatJsonDoesNotHaveCostTheOthersNothing) {
  program::Metrics metrics;
  program::take_line(
      R"({"loss": NaN, "low": -Infinity, "high": Infinity, "epoch": 3, "note": "a \"NaN\" \\", "accuracy": 0.5})",
      metrics);
  EXPECT_EQ(metrics, (program::Metrics{{"accuracy", 0.5}, {"epoch", 3}}));
  program::take_line(R"({"loss": NaN, "epoch": )", metrics);
  program::take_line(R"({"epoch": NaNs})", metrics);
  EXPECT_EQ(metrics.at("epoch"), 3);
}

TEST(ProgramLaunch, MainStandsBehindWhatRunsIt) {
  const Json base = {
      {"name", "p"}, {"identity", std::string(64, 'a')}, {"python", {{"program", "python3.11"}}}};
  program::MemberSetting member;
  auto last_line = [&](Json more) {
    Json json = base;
    json.update(more);
    const auto variables =
        program::member_variables(json, {{"10.0.0.1", 20001}, {"10.0.0.2", 20002}}, member, 1);
    std::string script = program::member_script(json, variables, member);
    script.pop_back();
    return script.substr(script.rfind('\n') + 1);
  };
  EXPECT_EQ(last_line({{"main", "train.py"}}), "exec 'python3.11' 'train.py'");
  EXPECT_EQ(last_line({{"main", "-m pkg.train"}}), "exec 'python3.11' '-m' 'pkg.train'");
  EXPECT_EQ(last_line({{"main", "-m  pkg.tool train.py"}, {"arguments", {"--x y"}}}),
            "exec 'python3.11' '-m' 'pkg.tool' 'train.py' '--x y'");
  EXPECT_EQ(last_line({{"main", "hostname"}, {"arguments", {"-f", "$RADL_HOSTS", "$$RADL_HOSTS"}}}),
            "exec 'hostname' '-f' '10.0.0.1,10.0.0.2' '$RADL_HOSTS'");
  EXPECT_EQ(last_line({{"main", "train.py"}, {"launcher", {"torchrun", "$RADL_CHIEF:$RADL_CHIEF_PORT"}}}),
            "exec 'torchrun' '10.0.0.1:20001' 'train.py'");
}

}  // namespace
}  // namespace radl
