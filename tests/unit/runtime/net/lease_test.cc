// Native steps that were cut short: what may have run is not repeated unasked, and never beside itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "common/files.h"
#include "common/process/process.h"
#include "runtime/net/lease.h"
#include "runtime/steps/native_runner.h"
#include "runtime/steps/step_log.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_nodes.h"
#include "tests/support/test_target.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

struct LeaseTest : testing::Test {
  LeaseTest() : handle(nodes.handle("worker[0]")) {
    step.id = "worker[0]/tools";
    step.recipe = "tools";
    step.nodes = {"worker[0]"};
    step.digest = "1";
    nodes.context.run = "run-1";
    nodes.context.log = [this](const std::string& line) { told += line + "\n"; };
    context.context = &nodes.context;
    context.log_path = nodes.folder.path("step.log");
    context.ran = &ran;
  }
  Status run(const std::string& command, Json properties) {
    step.resources = {{"command", command, std::move(properties), {}}};
    return again();
  }
  Status again() {
    auto outcome = make_native_runner()->run(context, step, {handle});
    return outcome ? Status() : outcome.status();
  }
  std::string home(const std::string& below) {
    return handle.attributes.at("home").get<std::string>() + "/" + below;
  }
  // How often the command has begun.
  int times() {
    auto text = read_file(home("times"));
    return text ? static_cast<int>(std::count(text->begin(), text->end(), '\n')) : 0;
  }

  TestNodes nodes;
  NodeHandle handle;
  ir::Step step;
  StepContext context;
  std::set<std::string> ran;
  std::string told;
};

// As long as those who call it wait, also where one look at all processes takes as long as its pauses.
TEST(EndOfATree, ComesInTimeWhereSleepTakesWholeSecondsAlone) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path("sleep"),
                                "#!/bin/sh\ncase $1 in *.*) exit 1;; esac\nexec /bin/sleep \"$1\"\n", 0755)
                  .ok());
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t stubborn = fork();
  if (stubborn == 0) {
    setsid();
    signal(SIGTERM, SIG_IGN);
    execl("/bin/sleep", "sleep", "600", nullptr);
    _exit(1);
  }
  close(ready[1]);
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 0) << "it has begun";
  close(ready[0]);
  auto ended = run_process(environment_of_process(),
                           {.argv = {"/bin/sh", "-c", end_tree_script(), "sh", std::to_string(stubborn), ""},
                            .environment = {{"PATH", folder.path("") + ":/usr/bin:/bin"}},
                            .deadline = std::chrono::seconds(20)});
  ASSERT_TRUE(ended.ok()) << ended.status().text();
  EXPECT_EQ(ended->exit_status, 0) << ended->err;
  kill(stubborn, SIGHUP);
  int status = 0;
  ASSERT_EQ(waitpid(stubborn, &status, 0), stubborn);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(LeaseTest, ACommandThatTimesOutRunsOnceAndIsNoPassingFault) {
  Status failed = run("echo x >> times; sleep 600", {{"timeout", 1}});
  EXPECT_EQ(failed.code(), Code::Invalid) << failed.text();
  EXPECT_TRUE(contains(failed.message(), "was not done within 1 s and was ended"));
  EXPECT_EQ(times(), 1);
}

TEST_F(LeaseTest, RetriesRepeatAFailedCommandAsOftenAsTheySay) {
  EXPECT_EQ(run("echo x >> times; exit 3", {{"retries", 2}}).code(), Code::Invalid);
  EXPECT_EQ(times(), 3);
  EXPECT_TRUE(run("echo x >> times; [ $(wc -l < times) -ge 5 ]", {{"retries", 9}}).ok());
  EXPECT_EQ(times(), 5);
  EXPECT_TRUE(
      run("echo x >> times; [ $(wc -l < times) -ge 7 ] || sleep 600", {{"timeout", 1}, {"retries", 1}}).ok());
  EXPECT_EQ(times(), 7);
}

TEST_F(LeaseTest, ACommandWhoseConnectionIsLostIsNotRepeatedUnlessItCanBeLookedAt) {
  const std::string cut =
      "echo x >> times; [ $(wc -l < times) -gt 1 ] || kill -KILL $(cat /proc/$(ps -o sid= -p $$ | tr -d ' "
      "')/stat "
      "| cut -d' ' -f4); touch made";
  Status failed = run(cut, Json::object());
  EXPECT_EQ(failed.code(), Code::Invalid) << failed.text();
  EXPECT_TRUE(contains(failed.message(), "it may have run"));
  EXPECT_EQ(times(), 1);
  // The command itself goes on without its connection, and must be over before its traces are removed.
  auto it_is_over = [&] { return std::filesystem::exists(home("made")); };
  ASSERT_TRUE(test::wait_until(it_is_over));
  std::filesystem::remove(home("times"));
  std::filesystem::remove(home("made"));
  EXPECT_EQ(run(cut, {{"creates", "~/made"}}).code(), Code::Lost) << "the executor tries again";
  ASSERT_TRUE(test::wait_until(it_is_over));
  std::filesystem::remove(home("times"));
  std::filesystem::remove(home("made"));
  EXPECT_TRUE(run(cut, {{"retries", 1}}).ok());
  EXPECT_EQ(times(), 2);
}

TEST_F(LeaseTest, WhatRanInAnEarlierAttemptIsNotRepeatedByTheNext) {
  step.resources = {{"command", "echo x >> times", Json::object(), {}},
                    {"command", "[ -e ready ]", Json::object(), {}}};
  EXPECT_FALSE(again().ok());
  EXPECT_TRUE(write_file_atomic(home("ready"), "").ok());
  EXPECT_TRUE(again().ok());
  EXPECT_EQ(times(), 1);
  ran.clear();  // another run of radlc
  EXPECT_TRUE(again().ok());
  EXPECT_EQ(times(), 2);
}

TEST_F(LeaseTest, TheRunAfterOneThatWasKilledEndsWhatItLeft) {
  std::thread killed([this] {
    // A separate run whose connection is abandoned as by kill -9: its processes are not ended.
    auto target = test::target_of(handle.attributes);
    auto own = ssh::make_remote(*target);
    ExecOptions options;
    (void)own->exec(
        under_lease({nodes.context.infrastructure, "run-0", step.id, "before"},
                    "echo $PPID > server; echo x >> times; touch begun; sleep 600; touch went-on"),
        options);
  });
  ASSERT_TRUE(test::wait_until([&] { return std::filesystem::exists(home("begun")); }));
  (void)(*handle.connect())->exec("kill -KILL $(cat server)");
  killed.join();
  EXPECT_TRUE(run("pgrep -f 'touch went-o[n]' && touch beside; echo x >> times", Json::object()).ok());
  EXPECT_EQ(times(), 2);
  EXPECT_FALSE(std::filesystem::exists(home("beside")));
  EXPECT_TRUE(contains(told, "worker[0]: ended worker[0]/tools, which had been running there since before"));
}

TEST_F(LeaseTest, TheTimeOfTheRunBindsItsCommands) {
  nodes.context.stop = Stop().within(std::chrono::seconds(2));
  Status failed = run("echo x >> times; sleep 600", Json::object());
  EXPECT_TRUE(contains(failed.message(), "the time allowed is over")) << failed.text();
  EXPECT_EQ(times(), 1);
}

TEST_F(LeaseTest, ALineWithoutEndIsCutInTheLogAndSecretsInItStayOut) {
  nodes.secrets["input.token"] = "s3cret-token-value";
  {
    StepLog log(context, step, "worker[0]");
    std::string piece(65530, 'x');
    log.output(piece);
    log.output("s3cret-token-value");
    for (int i = 0; i < 1000; ++i) log.output(piece);
    log.output("\nnext\n");
  }
  auto text = read_file(context.log_path);
  ASSERT_TRUE(text.ok());
  EXPECT_LT(text->size(), 70000u);
  EXPECT_TRUE(contains(*text, "... (the line is longer)\nworker[0]  next\n"));
  EXPECT_EQ(text->find("s3c"), std::string::npos);
}

}  // namespace
}  // namespace radl
