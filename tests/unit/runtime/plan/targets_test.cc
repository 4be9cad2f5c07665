// Plans for a part of what a file says.
#include <gtest/gtest.h>

#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

using Marks = std::vector<std::string>;

struct Targets : testing::Test {
  static ir::Program site(int workers = 2) {
    return ProgramBuilder()
        .deploy({"server"})
        .deploy({"worker", workers})
        .file("server", "tools", "/a", "1")
        .file("worker", "tools", "/a", "1")
        .train("server", "worker")
        .output("ip", ir::unknown("server[0].ip"))
        .output("model", ir::unknown("training/cifar.model_path"))
        .build();
  }
  Plan plan(const ir::Program& program, std::set<std::string> targets) {
    bench.options.targets = std::move(targets);
    Plan made = bench.plan(program);
    bench.options.targets.clear();
    return made;
  }
  PlanBench bench;
};

TEST_F(Targets, ANodeComesWithWhatItNeedsAndItsSteps) {
  const Plan part = plan(site(), {"worker[1]"});
  EXPECT_EQ(marks(part), (Marks{"+ key.local", "+ network.lan", "+ worker[1]", "> worker[1]/tools"}));
  EXPECT_TRUE(part.partial);
  EXPECT_EQ(part.notes, Marks{"only what --target names, and what that needs: 5 other changes are left out"});
  EXPECT_TRUE(part.outputs.empty()) << "nobody knows them after this";
  EXPECT_TRUE(plan_from_json(to_json(part))->partial);
}

TEST_F(Targets, ASystemIsAllItsNodes) {
  EXPECT_EQ(marks(plan(site(), {"worker"})),
            (Marks{"+ key.local", "+ network.lan", "+ worker[0]", "+ worker[1]", "> worker[0]/tools",
                   "> worker[1]/tools"}));
}

TEST_F(Targets, AStepComesWithItsNodesAndTheStepsBeforeIt) {
  EXPECT_EQ(plan(site(), {"training/cifar"}).actions.size(), bench.plan(site()).actions.size());
  bench.applied(site());
  bench.snapshot.steps.at("worker[1]/tools").status = StepStatus::Failed;
  bench.snapshot.steps.at("server[0]/tools").status = StepStatus::Failed;
  EXPECT_EQ(marks(plan(site(), {"worker[1]/tools"})), Marks{"> worker[1]/tools"});
}

TEST_F(Targets, CostsOfExcludedResourcesAreUnchanged) {
  bench.cloud.offers = {{"s", "", Money::of(0.1)}};
  bench.applied(site(2));
  const Plan part = plan(site(4), {"worker[2]"});
  EXPECT_EQ(marks(part), (Marks{"+ worker[2]", "> worker[2]/tools"}));
  EXPECT_EQ(*part.totals.price_per_hour_before.total(), Money::of(0.3));
  EXPECT_EQ(*part.totals.price_per_hour.total(), Money::of(0.4));
}

TEST_F(Targets, ARemovalCanBeATarget) {
  bench.applied(site(4));
  const Plan part = plan(site(2), {"worker[3]"});
  EXPECT_EQ(marks(part), Marks{"- worker[3]"});
  EXPECT_EQ(summary_line(plan(site(2), {"server"})), "No changes within --target.");
}

TEST_F(Targets, WhatMustLeaveFirstIsTakenAlong) {
  bench.applied(site(1));
  ir::Program changed = site(1);
  changed.networks[0].is_public = true;  // made anew, and so is all that is in it
  EXPECT_EQ(marks(plan(changed, {"network.lan"})),
            (Marks{"-/+ network.lan", "-/+ server[0]", "-/+ worker[0]"}));
}

TEST_F(Targets, AMeetingPointIsNoNeedAndASuccessIs) {
  auto program = [](bool success) {
    ProgramBuilder builder;
    builder.deploy({"server"}).deploy({"worker"}).file("server", "one", "/a", "1");
    success ? builder.after("one") : builder.barrier("step/1");
    return builder.file("worker", "two", "/b", "1").build();
  };
  const Plan free = plan(program(false), {"worker"});
  EXPECT_EQ(marks(free), (Marks{"+ key.local", "+ network.lan", "+ worker[0]", "> worker[0]/two"}));
  EXPECT_TRUE(free.barriers.empty());
  const Plan bound = plan(program(true), {"worker"});
  EXPECT_NE(bound.find("server[0]/one"), nullptr);
  EXPECT_EQ(bound.barriers.size(), 1u);
}

TEST_F(Targets, ATargetThatIsNowhereIsNamed) {
  bench.options.targets = {"nobody", "worker[0]", "worker[9]"};
  const Status status = bench.try_plan(site()).status();
  EXPECT_EQ(status.code(), Code::Invalid);
  EXPECT_EQ(status.message(),
            "--target nobody: no such resource, system or step\n"
            "--target worker[9]: no such resource, system or step");
}

TEST_F(Targets, ADestroyTakesWhatNeedsThemAndNothingElse) {
  bench.applied(site());
  Plan part = *make_destroy_plan(bench.snapshot, {"worker"});
  EXPECT_EQ(marks(part), (Marks{"- worker[0]", "- worker[1]"}));
  EXPECT_TRUE(part.destroys && part.partial);
  EXPECT_TRUE(part.outputs.empty());
  EXPECT_EQ(part.notes, Marks{"only what --target names, and what needs it: 3 resources stay"});
  part = *make_destroy_plan(bench.snapshot, {"network.lan"});
  EXPECT_EQ(marks(part), (Marks{"- server[0]", "- worker[0]", "- worker[1]", "- network.lan"}));
  EXPECT_EQ(part.find("worker[1]")->why, "it needs network.lan");
  EXPECT_EQ(make_destroy_plan(bench.snapshot, {"worker[7]"}).status().code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::test
