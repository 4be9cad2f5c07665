// What failed of one and the same cause is said once, with the names of all that it stopped.
#include "runtime/exec/failures.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

ActionOutcome failed(const std::string& id, const Status& why, const std::string& log = "") {
  ActionOutcome outcome;
  outcome.id = id;
  outcome.state = ActionOutcome::State::Failed;
  outcome.status = why;
  outcome.log = log;
  return outcome;
}

std::vector<std::string> told(const std::vector<ActionOutcome>& outcomes) {
  std::vector<std::string> said;
  for (const Failure& one : failures_told(outcomes)) said.push_back(one.status.message());
  return said;
}

const Status kNoRegion = invalid("no service in region Nowhere").with_hint("OS_REGION_NAME");

TEST(Failures, OfOneCauseAreOne) {
  ActionOutcome done = failed("worker[9]", {});
  done.state = ActionOutcome::State::Done;
  EXPECT_EQ(told({failed("key.openstack", kNoRegion), failed("worker[0]", Status(kNoRegion).at("worker[0]")),
                  failed("worker[1]", Status(kNoRegion).at("worker[1]")), done,
                  failed("worker[3]", Status(kNoRegion).at("worker[3]"))}),
            std::vector<std::string>{"key.openstack, worker[0..1,3]: no service in region Nowhere"});
  EXPECT_EQ(failures_told({failed("a", kNoRegion), failed("b", kNoRegion)}).front().status.hint(),
            "OS_REGION_NAME");
}

TEST(Failures, OfOtherCausesHintsOrWithLogsStandAlone) {
  EXPECT_EQ(told({failed("a", kNoRegion), failed("b", invalid("no service in region Nowhere")),
                  failed("c", invalid("c2 is gone: 10.0.0.1"))}),
            (std::vector<std::string>{"a: no service in region Nowhere", "b: no service in region Nowhere",
                                      "c2 is gone: 10.0.0.1"}));
  const auto steps = failures_told({failed("worker[0]/tools", invalid("exit status 1"), "/log/0"),
                                    failed("worker[1]/tools", invalid("exit status 1"), "/log/1")});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].status.message(), "worker[0]/tools: exit status 1");
  EXPECT_EQ(steps[1].log, "/log/1");
}

TEST(Failures, ANameWithinTheMessageKeepsItAlone) {
  EXPECT_EQ(told({failed("worker[0]", invalid("worker[0]: worker[0] is gone")),
                  failed("worker[1]", invalid("worker[1]: worker[1] is gone"))})
                .size(),
            2u);
}

TEST(Failures, LeftoversAreNamedOnceIfTheirReasonWasReported) {
  RunReport report;
  report.actions = {failed("volume.worker[0].1", invalid("not allowed")), failed("worker[0]", {}),
                    failed("worker[1]", invalid("not allowed")), failed("network.lan", {})};
  report.actions[1].state = ActionOutcome::State::Done;
  report.actions[3].state = ActionOutcome::State::Skipped;
  EXPECT_TRUE(leftovers_told(report).empty());
  report.leftovers = {leftover_of(report.actions[0]), leftover_of(report.actions[2])};
  EXPECT_EQ(leftovers_told(report), std::vector<std::string>{"volume.worker[0].1, worker[1], network.lan"});
  report.leftovers.push_back("i-0 (ec2): it does not go");
  EXPECT_EQ(leftovers_told(report), (std::vector<std::string>{"i-0 (ec2): it does not go",
                                                              "volume.worker[0].1, worker[1], network.lan"}));
  report.leftovers = {"i-0 (ec2): it does not go"};
  EXPECT_EQ(leftovers_told(report), report.leftovers);
}

}  // namespace
}  // namespace radl
