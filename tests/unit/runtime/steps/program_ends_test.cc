// How a program ends that is cancelled by a command, or several of whose members fail.
#include <gtest/gtest.h>

#include <thread>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/program_runner.h"
#include "tests/support/program_bench.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::wait_until;

struct ProgramEnds : test::ProgramBench {
  std::string job_file(size_t node, const std::string& below) {
    return handles[node].attributes.at("home").get<std::string>() + "/.radl/jobs/p-aaaaaaaaaaaa/" + below;
  }
  bool begun(size_t node) { return read_file(job_file(node, "checkpoints/begun")).ok(); }
  // As `radlc cancel` does it, on one node.
  void cancel(size_t node) {
    jobs::Member member(handles[node], nodes.context, "p-aaaaaaaaaaaa");
    ASSERT_TRUE(member.put_bytes("", "cancelled", {}, 0600).ok());
    ASSERT_TRUE(member.signal({"member-" + std::to_string(node)}, "TERM").ok());
  }
  Status run_cancelled(std::initializer_list<size_t> on) {
    std::thread user([&] {
      wait_until([&] { return begun(0) && begun(1); });
      for (size_t node : on) cancel(node);
    });
    auto outcome = run();
    user.join();
    EXPECT_FALSE(outcome.ok());
    return outcome.ok() ? Status() : outcome.status();
  }
};

// It ends well when it is asked to, as a server does.
constexpr const char* kEndsWell = R"sh(
trap 'exit 0' TERM
echo part > "$RADL_RESULTS/model"
echo begun > "$RADL_CHECKPOINTS/begun"
if [ -e "$RADL_CHECKPOINTS/gate" ]; then echo whole > "$RADL_RESULTS/model"; exit 0; fi
while :; do sleep 0.05; done
)sh";

TEST_F(ProgramEnds, CancelledItHasNotComeToItsEndHoweverItEnds) {
  program(kEndsWell);
  step.program["retries"] = 3;
  const Status why = run_cancelled({0, 1});
  EXPECT_TRUE(contains(why.message(), "was cancelled by `radlc cancel`")) << why.message();
  EXPECT_FALSE(read_file(nodes.folder.path("results/model")).ok()) << "no finished result";
  EXPECT_EQ(left(), 0u);
  for (size_t node : {0, 1})
    ASSERT_TRUE(write_file_atomic(job_file(node, "checkpoints/gate"), "").ok())
        << "its checkpoints are there";
  context.resume = true;
  auto again = run();
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/model")), "whole\n");
}

TEST_F(ProgramEnds, OneMemberThatIsCancelledIsEnough) {
  program("trap 'exit 0' TERM; echo begun > $RADL_CHECKPOINTS/begun; while :; do sleep 0.05; done");
  step.program["ends"] = "chief";
  EXPECT_TRUE(contains(run_cancelled({0}).message(), "was cancelled by `radlc cancel`"));
}

TEST_F(ProgramEnds, WhatWasCancelledWhileNobodyFollowedItRunsAgain) {
  program(kEndsWell);
  ASSERT_TRUE(contains(run_cancelled({0, 1}).message(), "was cancelled"));
  // As the nodes are where radlc was killed before: the run is known, and all members have ended well.
  for (size_t node : {0, 1}) {
    jobs::Member member(handles[node], nodes.context, "p-aaaaaaaaaaaa");
    ASSERT_TRUE(member.write_run(step.digest).ok());
    auto look = member.look();
    ASSERT_TRUE(look.ok());
    EXPECT_TRUE(look->cancelled);
    EXPECT_EQ(look->of("member-" + std::to_string(node)).exit, 0);
    ASSERT_TRUE(write_file_atomic(job_file(node, "checkpoints/gate"), "").ok());
  }
  auto again = run();
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/model")), "whole\n");
}

TEST_F(ProgramEnds, EachMemberThatFailsSaysWhy) {
  program(R"sh(
if [ $RADL_MEMBER = 0 ]; then sleep 0.2; echo 'lost the connection to worker 1'; exit 5; fi
echo 'no such table'
exit 3
)sh");
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  const std::string said = outcome.status().message();
  const size_t first = said.find("worker[1]: ended with exit status 3\nno such table");
  const size_t second = said.find("worker[0]: ended with exit status 5\nlost the connection to worker 1");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_NE(second, std::string::npos) << said;
  EXPECT_LT(first, second) << "the first that failed comes first";
}

TEST_F(ProgramEnds, AMemberThatWasEndedForAnothersFailureIsNoFailure) {
  program("if [ $RADL_MEMBER = 1 ]; then exit 3; fi; echo 'at work'; sleep 600");
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_FALSE(contains(outcome.status().message(), "at work")) << outcome.status().message();
}

}  // namespace
}  // namespace radl
