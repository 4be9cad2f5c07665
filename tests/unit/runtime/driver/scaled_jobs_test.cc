// Whether an apply gives the trainings that it supervises the nodes that `radlc scale` has chosen.
#include "runtime/driver/scaled_jobs.h"

#include <gtest/gtest.h>

#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

struct ScaledJobsTest : testing::Test {
  static ir::Program training(int workers, const std::string& model = "resnet20", bool program = false) {
    ProgramBuilder builder;
    builder.deploy({"server"}).deploy({"worker", workers}).file("worker", "tools", "/etc/motd", "hello");
    ir::Program made = builder.train("server", "worker", model).build();
    if (!program) return made;
    ir::Step step;
    step.id = "program/p";
    step.kind = ir::StepKind::Program;
    for (const ir::Node& node : made.nodes)
      if (node.system == "worker") step.nodes.push_back(node.address);
    step.program = ir::Json{{"name", "p"}, {"members", step.nodes}};
    step.digest = sha256_hex(step.program->dump());
    made.steps.push_back(step);
    return made;
  }
  // The state after a scale to `now` beside an apply that trains with `before`.
  void scaled(const ir::Program& before, const ir::Program& now) {
    bench.applied(now);
    record("training/cifar").status = StepStatus::Interrupted;
    record("training/cifar").nodes = before.steps.back().nodes;
  }
  StepRecord& record(const std::string& id) { return bench.snapshot.steps.at(id); }
  driver::ScaledJobs look(const ir::Program& before, const ir::Program& now) {
    return driver::scaled_jobs(before, now, bench.snapshot);
  }
  PlanBench bench;
};

TEST_F(ScaledJobsTest, AWorkersNodeThatIsReadyJoins) {
  scaled(training(2), training(3));
  const driver::ScaledJobs found = look(training(2), training(3));
  EXPECT_TRUE(found.changes);
  EXPECT_TRUE(found.refused.empty());
  EXPECT_TRUE(look(training(3), training(2)).changes) << "and one that was removed leaves";
  EXPECT_FALSE(look(training(3), training(3)).changes);
}

TEST_F(ScaledJobsTest, ANodeThatIsNotReadyIsWaitedFor) {
  scaled(training(2), training(3));
  record("worker[2]/tools").status = StepStatus::Failed;
  EXPECT_FALSE(look(training(2), training(3)).changes);
  record("worker[2]/tools").status = StepStatus::Done;
  EXPECT_TRUE(look(training(2), training(3)).changes);
  bench.snapshot.resources.at("worker[2]").status = ResourceStatus::Tainted;
  EXPECT_FALSE(look(training(2), training(3)).changes);
  bench.snapshot.resources.erase("worker[2]");
  EXPECT_FALSE(look(training(2), training(3)).changes);
  EXPECT_TRUE(look(training(2), training(3)).refused.empty());
}

TEST_F(ScaledJobsTest, NothingRunsAgainForIt) {
  scaled(training(2, "resnet20", true), training(3, "resnet20", true));
  driver::ScaledJobs found = look(training(2, "resnet20", true), training(3, "resnet20", true));
  EXPECT_FALSE(found.changes);
  EXPECT_FALSE(found.refused.empty()) << "the program has ended, and would run again";
  record("program/p").status = StepStatus::Interrupted;
  found = look(training(2, "resnet20", true), training(3, "resnet20", true));
  EXPECT_FALSE(found.changes || found.refused.empty()) << "the program runs, and has its members";
  bench.snapshot.steps.erase("program/p");
  EXPECT_TRUE(look(training(2, "resnet20", true), training(3, "resnet20", true)).changes)
      << "it is yet to run";
  record("training/cifar").status = StepStatus::Done;
  EXPECT_FALSE(look(training(2), training(3)).changes);
}

TEST_F(ScaledJobsTest, AnotherTrainingIsNotThisOne) {
  scaled(training(2), training(3));
  EXPECT_FALSE(look(training(2), training(3, "vgg11")).changes);
}

}  // namespace
}  // namespace radl::test
