// Programs are started with exactly the arguments given, and never outlive their deadline.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "runtime/base/process.h"
#include "runtime/base/world.h"
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

TEST(Process, IsEndedWhenCancelled) {
  std::atomic<bool> cancel{false};
  ProcessRequest request = shell("echo started; sleep 60");
  request.cancelled = [&] { return cancel.load(); };
  request.on_output = [&](std::string_view, bool) { cancel = true; };
  EXPECT_EQ(run_process(request).status().code(), Code::Cancelled);
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
