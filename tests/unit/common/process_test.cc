// Programs are started with exactly the arguments given, and never outlive their deadline.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "common/files.h"
#include "common/process/detached.h"
#include "common/process/process.h"
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
  Result<ProcessResult> result =
      run_process(environment_of_process(), shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
}

TEST(Process, StartsBeforeItsInputHasComeAndGetsItAsItComes) {
  ProcessRequest request = shell("echo ready; cat");
  request.stdin_bytes = "first ";
  std::string seen;
  request.on_output = [&](std::string_view piece, bool) { seen += piece; };
  int sent = 0;
  request.more_stdin = [&]() -> std::optional<std::string> {
    if (seen.find("ready") == std::string::npos) return "";
    if (sent == 3) return std::nullopt;
    return std::string(100000, static_cast<char>('a' + sent++));
  };
  request.deadline = std::chrono::minutes(1);
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out,
            "ready\nfirst " + std::string(100000, 'a') + std::string(100000, 'b') + std::string(100000, 'c'));
}

TEST(Process, AProgramThatReadsNoInputDoesNotWaitForItsEnd) {
  ProcessRequest request = shell("exec <&-; exit 3");
  request.more_stdin = []() -> std::optional<std::string> { return ""; };
  request.deadline = std::chrono::minutes(1);
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->exit_status, 3);
}

// Servers and mount's like are there, and many users' PATH does not say so.
TEST(Process, FindsWhatIsInSbinAlsoFromAScript) {
  ProcessRequest request = shell("echo $PATH");
  request.environment["PATH"] = "/nowhere";
  EXPECT_EQ(run_process(environment_of_process(), request)->out, "/nowhere\n");
  const std::string before = getenv("PATH");
  for (const char* mine : {"/usr/bin:/bin", "/usr/bin:/usr/sbin:/bin"}) {
    setenv("PATH", mine, 1);
    const std::string path = ":" + run_process(environment_of_process(), shell("printf %s: $PATH"))->out;
    for (const char* folder : {":/usr/bin:", ":/usr/sbin:", ":/sbin:"}) {
      EXPECT_NE(path.find(folder), std::string::npos) << path;
      EXPECT_EQ(path.find(folder), path.rfind(folder)) << path;
    }
  }
  setenv("PATH", before.c_str(), 1);
}

TEST(Process, PassesArgumentsUntouched) {
  ProcessRequest request;
  request.argv = {"printf", "%s|", "a b", "$HOME", "'\"", ""};
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "a b|$HOME|'\"||");
}

TEST(Process, FeedsALargeInputThroughAndKeepsTheEndOfALargeOutput) {
  ProcessRequest request;
  request.argv = {"cat"};
  request.stdin_bytes = std::string(3 << 20, 'x') + "end";
  request.keep_bytes = 1000;
  Result<ProcessResult> result = run_process(environment_of_process(), request);
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
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_status, 0);
}

TEST(Process, SetsAndRemovesVariablesAndTheFolder) {
  ProcessRequest request = shell("echo $A-${HOME-none}; pwd");
  request.environment = {{"A", "1"}, {"HOME", std::nullopt}};
  request.directory = "/";
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "1-none\n/\n");
}

// What the operator's shell may hold.
struct Credentials : testing::Test {
  void SetUp() override {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  void TearDown() override {
    for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  }
  const std::map<std::string, std::string> variables = {{"AWS_SECRET_ACCESS_KEY", "sentinel-aws"},
                                                        {"RADL_INPUT_TOKEN", "sentinel-input"},
                                                        {"RADL_SUDO_PASSWORD", "sentinel-sudo"},
                                                        {"VAULT_TOKEN", "sentinel-vault"},
                                                        {"LANG", "de_DE.UTF-8"},
                                                        {"LC_ALL", "de_DE.UTF-8"},
                                                        {"LANGUAGE", "de"},
                                                        {"https_proxy", "http://proxy:1"}};
};

TEST_F(Credentials, ReachNoProgramThatDoesNotNeedThem) {
  ProcessRequest request;
  request.argv = {"env"};
  const std::string all = run_process(environment_of_process(), request)->out;
  EXPECT_EQ(all.find("sentinel"), std::string::npos) << all;
  EXPECT_NE(all.find("PATH="), std::string::npos);
  EXPECT_NE(all.find("https_proxy=http://proxy:1"), std::string::npos);
  request.inherited = {"AWS_*"};
  EXPECT_NE(run_process(environment_of_process(), request)->out.find("AWS_SECRET_ACCESS_KEY=sentinel-aws"),
            std::string::npos);
  request.inherited = kUsersVariables;
  const std::string users = run_process(environment_of_process(), request)->out;
  EXPECT_NE(users.find("VAULT_TOKEN=sentinel-vault"), std::string::npos);
  EXPECT_EQ(users.find("sentinel-input"), std::string::npos);
  EXPECT_EQ(users.find("sentinel-sudo"), std::string::npos);
}

TEST_F(Credentials, ReachNothingThatLivesOn) {
  test::TemporaryFolder folder;
  const std::string list = folder.path("kept");
  auto kept = KeptProcess::start(
      environment_of_process(), {"/bin/sh", "-c", "env > " + list + "; echo over >> " + list + "; sleep 60"});
  ASSERT_TRUE(kept.ok());
  DetachOptions options;
  options.output_path = folder.path("detached");
  options.environment = {{"OWN", "1"}};
  ASSERT_TRUE(start_detached(environment_of_process(), {"/bin/sh", "-c", "env; echo over"}, options).ok());
  for (const std::string& file : {list, options.output_path}) {
    ASSERT_TRUE(test::wait_until([&] {
      auto text = read_file(file);
      return text && text->ends_with("over\n");
    }));
    EXPECT_EQ(read_file(file)->find("sentinel"), std::string::npos) << *read_file(file);
    EXPECT_EQ(read_file(file)->find("LANGUAGE"), std::string::npos);
  }
  EXPECT_NE(read_file(options.output_path)->find("OWN=1"), std::string::npos);
}

TEST_F(Credentials, ProgramsSpeakOneLanguage) {
  ProcessRequest request;
  request.argv = {"env"};
  const std::string all = run_process(environment_of_process(), request)->out;
  EXPECT_NE(all.find("LC_ALL=C.UTF-8"), std::string::npos) << all;
  EXPECT_EQ(all.find("LANGUAGE="), std::string::npos) << all;
}

TEST(Process, ADeadlineHoldsAlsoForOneThatClosedItsOutput) {
  ProcessRequest request = shell("exec >&- 2>&-; sleep 60");
  request.deadline = milliseconds(300);
  EXPECT_EQ(run_process(environment_of_process(), request).status().code(), Code::Timeout);
}

TEST(Process, AnUnknownProgramIsNotFound) {
  ProcessRequest request;
  request.argv = {"no-such-program-here"};
  EXPECT_EQ(run_process(environment_of_process(), request).status().code(), Code::NotFound);
}

TEST(Process, IsEndedWithAllItsChildrenAtTheDeadline) {
  ProcessRequest request = shell("sleep 60 & echo $!; sleep 60");
  std::string child;
  request.on_output = [&](std::string_view piece, bool) { child += piece; };
  request.deadline = milliseconds(300);
  EXPECT_EQ(run_process(environment_of_process(), request).status().code(), Code::Timeout);
  ASSERT_FALSE(child.empty());
  // The signal is sent by then; dying may take the child a moment.
  EXPECT_TRUE(test::wait_until([&] { return process_start_time(std::stoi(child)) == 0; }))
      << "the background child still runs";
}

TEST(Process, ADeadlineMayBeForEver) {
  ProcessRequest request = shell("echo done");
  request.deadline = milliseconds::max();
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "done\n");
}

TEST(Process, IsEndedWhenCancelled) {
  std::atomic<bool> cancel{false};
  ProcessRequest request = shell("echo started; sleep 60");
  request.stop = Stop::when([&] { return cancel.load(); });
  request.on_output = [&](std::string_view, bool) { cancel = true; };
  EXPECT_EQ(run_process(environment_of_process(), request).status().code(), Code::Cancelled);
}

// One in its process group, one in a session of its own, one whose parent has ended; and what it writes to
// `ids`.
ProcessRequest family(const std::string& ids) {
  ProcessRequest request =
      shell("sleep 60 & echo $! >> " + ids + "; setsid sleep 60 & echo $! >> " + ids +
            "; (setsid sh -c 'sleep 60 & echo $! >> " + ids + "'); echo over >> " + ids + "; sleep 60; :");
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
  EXPECT_EQ(run_process(environment_of_process(), request).status().code(), Code::Cancelled);
  EXPECT_TRUE(are_gone(ids));
}

TEST(Process, AllThatDescendsFromItEndsWithUsEvenWhenWeAreKilled) {
  test::TemporaryFolder folder;
  const std::string ids = folder.path() + "/ids", kept_ids = folder.path() + "/kept";
  pid_t us = ::fork();
  if (us == 0) {
    auto kept = KeptProcess::start(environment_of_process(), family(kept_ids).argv);
    (void)run_process(environment_of_process(), family(ids));
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
    (void)run_process(environment_of_process(), shell("trap '' TERM; echo $$ > " + ids + "; echo over >> " +
                                                      ids + "; while :; do sleep 1; done"));
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
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->out, "in");
  EXPECT_EQ(result->err, "err\n");
  request.argv[2] = "kill -9 $$";
  EXPECT_EQ(run_process(environment_of_process(), request)->exit_status, 137);
}

TEST(Process, ABackgroundChildThatKeepsThePipesDoesNotHoldUsUp) {
  ProcessRequest request = shell("sleep 5 & echo done");
  request.deadline = milliseconds(3000);
  Result<ProcessResult> result = run_process(environment_of_process(), request);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "done\n");
}

TEST(Process, ASignalIsAStatusAbove128) {
  EXPECT_EQ(run_process(environment_of_process(), shell("kill -9 $$"))->exit_status, 137);
}

TEST(Process, StartTimeNamesAProcessForGood) {
  EXPECT_NE(process_start_time(::getpid()), 0u);
  EXPECT_EQ(process_start_time(::getpid()), process_start_time(::getpid()));
  EXPECT_EQ(process_start_time(1 << 30), 0u);
}

TEST(World, WritesTimeForPeople) { EXPECT_EQ(utc_time(1.7e9), "2023-11-14T22:13:20Z"); }

}  // namespace
}  // namespace radl
