// Programs are started with exactly the arguments given, and never outlive their deadline.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "common/files.h"
#include "runtime/base/process.h"
#include "runtime/base/world.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using std::chrono::milliseconds;

ProcessRequest shell(const std::string& script) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", script};
  return request;
}

TEST(Process, GivesBothStreamsAndTheExitStatus) {
  Result<ProcessResult> result = run_process(shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
}

TEST(Process, PassesArgumentsUntouched) {
  ProcessRequest request;
  request.argv = {"printf", "%s|", "a b", "$HOME", "'\"", ""};
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "a b|$HOME|'\"||");
}

TEST(Process, FeedsALargeInputThroughAndKeepsTheEndOfALargeOutput) {
  ProcessRequest request;
  request.argv = {"cat"};
  request.stdin_bytes = std::string(3 << 20, 'x') + "end";
  request.keep_bytes = 1000;
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out.size(), 1000u);
  EXPECT_EQ(result->out.substr(997), "end");
  EXPECT_TRUE(result->out_cut);
  EXPECT_FALSE(result->err_cut);
}

TEST(Process, ATargetThatDoesNotReadItsInputIsNoError) {
  ProcessRequest request;
  request.argv = {"true"};
  request.stdin_bytes = std::string(1 << 20, 'x');
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_status, 0);
}

TEST(Process, SetsAndRemovesVariablesAndTheFolder) {
  ProcessRequest request = shell("echo $A-${HOME-none}; pwd");
  request.environment = {{"A", "1"}, {"HOME", std::nullopt}};
  request.directory = "/";
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "1-none\n/\n");
}

TEST(Process, AnUnknownProgramIsNotFound) {
  ProcessRequest request;
  request.argv = {"no-such-program-here"};
  EXPECT_EQ(run_process(request).status().code(), Code::NotFound);
}

TEST(Process, IsEndedWithAllItsChildrenAtTheDeadline) {
  ProcessRequest request = shell("sleep 60 & echo $!; sleep 60");
  std::string child;
  request.on_output = [&](std::string_view piece, bool) { child += piece; };
  request.deadline = milliseconds(300);
  EXPECT_EQ(run_process(request).status().code(), Code::Timeout);
  ASSERT_FALSE(child.empty());
  // The signal is sent by then; dying may take the child a moment.
  EXPECT_TRUE(test::wait_until([&] { return process_start_time(std::stoi(child)) == 0; }))
      << "the background child still runs";
}

TEST(Process, ADeadlineMayBeForEver) {
  ProcessRequest request = shell("echo done");
  request.deadline = milliseconds::max();
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "done\n");
}

TEST(Process, IsEndedWhenCancelled) {
  std::atomic<bool> cancel{false};
  ProcessRequest request = shell("echo started; sleep 60");
  request.stop = Stop::when([&] { return cancel.load(); });
  request.on_output = [&](std::string_view, bool) { cancel = true; };
  EXPECT_EQ(run_process(request).status().code(), Code::Cancelled);
}

// One in its process group, one in a session of its own, one whose parent has ended; and what it writes to
// `ids`.
ProcessRequest family(const std::string& ids) {
  ProcessRequest request =
      shell("sleep 60 & echo $! >> " + ids + "; setsid sleep 60 & echo $! >> " + ids +
            "; (setsid sh -c 'sleep 60 & echo $! >> " + ids + "'); echo over >> " + ids + "; sleep 60; :");
  request.with_descendants = true;
  return request;
}

bool are_gone(const std::string& ids) {
  std::ifstream list(ids);
  for (std::string id; list >> id;) {
    if (id != "over" && process_start_time(std::stoi(id)) != 0) return false;
  }
  return true;
}

bool is_whole(const std::string& ids) {
  auto text = read_file(ids);
  return text && text->ends_with("over\n");
}

TEST(Process, AllThatDescendsFromItEndsWithItWhenItIsCancelled) {
  test::TemporaryFolder folder;
  const std::string ids = folder.path() + "/ids";
  ProcessRequest request = family(ids);
  request.stop = Stop::when([&] { return is_whole(ids); });
  EXPECT_EQ(run_process(request).status().code(), Code::Cancelled);
  EXPECT_TRUE(are_gone(ids));
}

TEST(Process, AllThatDescendsFromItEndsWithUsEvenWhenWeAreKilled) {
  test::TemporaryFolder folder;
  const std::string ids = folder.path() + "/ids", kept_ids = folder.path() + "/kept";
  pid_t us = ::fork();
  if (us == 0) {
    auto kept = KeptProcess::start(family(kept_ids).argv);
    (void)run_process(family(ids));
    ::_exit(0);
  }
  EXPECT_TRUE(test::wait_until([&] { return is_whole(ids) && is_whole(kept_ids); }));
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  EXPECT_TRUE(test::wait_until([&] { return are_gone(ids) && are_gone(kept_ids); }));
}

TEST(Process, AProgramThatTakesNoNoticeOfTermEndsWithUsAsWell) {
  test::TemporaryFolder folder;
  const std::string ids = folder.path() + "/ids";
  pid_t us = ::fork();
  if (us == 0) {
    (void)run_process(
        shell("trap '' TERM; echo $$ > " + ids + "; echo over >> " + ids + "; while :; do sleep 1; done"));
    ::_exit(0);
  }
  EXPECT_TRUE(test::wait_until([&] { return is_whole(ids); }));
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  EXPECT_TRUE(test::wait_until([&] { return are_gone(ids); }));
}

TEST(Process, AGuardedProgramGivesItsOutputAndStatus) {
  ProcessRequest request = shell("cat; echo err >&2; exit 7");
  request.stdin_bytes = "in";
  request.with_descendants = true;
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->out, "in");
  EXPECT_EQ(result->err, "err\n");
  request.argv[2] = "kill -9 $$";
  EXPECT_EQ(run_process(request)->exit_status, 137);
}

TEST(Process, ABackgroundChildThatKeepsThePipesDoesNotHoldUsUp) {
  ProcessRequest request = shell("sleep 5 & echo done");
  request.deadline = milliseconds(3000);
  Result<ProcessResult> result = run_process(request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "done\n");
}

TEST(Process, ASignalIsAStatusAbove128) { EXPECT_EQ(run_process(shell("kill -9 $$"))->exit_status, 137); }

TEST(Process, StartTimeNamesAProcessForGood) {
  EXPECT_NE(process_start_time(::getpid()), 0u);
  EXPECT_EQ(process_start_time(::getpid()), process_start_time(::getpid()));
  EXPECT_EQ(process_start_time(1 << 30), 0u);
}

TEST(World, WritesTimeForPeople) { EXPECT_EQ(utc_time(1.7e9), "2023-11-14T22:13:20Z"); }

}  // namespace
}  // namespace radl
