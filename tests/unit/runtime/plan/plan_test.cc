// What a plan contains: what a reviewer of the change would expect, and nothing else.
#include "runtime/plan/plan.h"

#include <gtest/gtest.h>

#include "runtime/plan/graph.h"
#include "runtime/plan/numbers.h"
#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

using Marks = std::vector<std::string>;

ProgramBuilder cluster(int workers, const std::string& motd = "hello", double memory = 2 * kGiB) {
  ProgramBuilder builder;
  builder.deploy({"server"}).deploy({"worker", workers, memory});
  builder.file("server", "tools", "/etc/motd", motd).file("worker", "tools", "/etc/motd", motd);
  return builder;
}

ir::Program training(int workers, const std::string& model = "resnet20", int epochs = 10) {
  return cluster(workers).train("server", "worker", model, epochs).build();
}

class PlanTest : public testing::Test {
 protected:
  void applied(const ir::Program& program) { bench.applied(program); }
  const Action& action(const Plan& plan, const std::string& id) {
    const Action* found = plan.find(id);
    EXPECT_NE(found, nullptr) << id;
    static const Action none;
    return found ? *found : none;
  }
  PlanBench bench;
};

TEST_F(PlanTest, AFirstPlanMakesEverythingInAnOrderThatRespectsItsEdges) {
  Plan plan = bench.plan(training(2));
  EXPECT_EQ(marks(plan),
            (Marks{"+ key.local", "+ network.lan", "+ server[0]", "+ worker[0]", "+ worker[1]",
                   "> server[0]/tools", "> worker[0]/tools", "> worker[1]/tools", "> training/cifar"}));
  std::set<std::string> seen;
  for (const Action& action : plan.actions) {
    for (const std::string& need : action.needs)
      EXPECT_TRUE(seen.count(need)) << action.id << " before " << need;
    EXPECT_FALSE(action.why.empty()) << action.id;
    seen.insert(action.id);
  }
  EXPECT_EQ(action(plan, "worker[1]").needs, (Marks{"key.local", "network.lan"}));
  EXPECT_EQ(action(plan, "worker[1]/tools").needs, (Marks{"worker[1]"}));
}

TEST_F(PlanTest, TheSameInputGivesTheSameBytes) {
  ir::Program program = training(3);
  EXPECT_EQ(to_json(bench.plan(program)).dump(), to_json(bench.plan(program)).dump());
  applied(program);
  EXPECT_EQ(to_json(bench.plan(training(5))).dump(), to_json(bench.plan(training(5))).dump());
}

TEST_F(PlanTest, AfterApplyThereAreNoChanges) {
  ir::Program program = training(2);
  applied(program);
  Plan again = bench.plan(program);
  EXPECT_FALSE(again.changes_anything()) << to_json(again).dump(1);
  EXPECT_EQ(summary_line(again), "No changes. The infrastructure is as the file says.");
}

TEST_F(PlanTest, OneWorkerMoreIsOneNodeItsStepAndTheTraining) {
  applied(training(2));
  Plan plan = bench.plan(training(3));
  EXPECT_EQ(marks(plan), (Marks{"+ worker[2]", "> worker[2]/tools", "> training/cifar"}));
  const Action& train = action(plan, "training/cifar");
  EXPECT_TRUE(train.resume);
  EXPECT_EQ(train.why, "workers 2 -> 3; resumes from the last checkpoint");
}

TEST_F(PlanTest, OneWorkerLessRemovesTheHighest) {
  applied(training(3));
  Plan plan = bench.plan(training(2));
  EXPECT_EQ(marks(plan), (Marks{"> training/cifar", "- worker[2]"}));
  EXPECT_EQ(action(plan, "worker[2]").why, "'worker' is deployed 2 times");
}

TEST_F(PlanTest, ANewModelTrainsFromTheStartAndMoreEpochsGoOn) {
  applied(training(2));
  Plan plan = bench.plan(training(2, "resnet44"));
  EXPECT_EQ(marks(plan), Marks{"> training/cifar"});
  EXPECT_FALSE(action(plan, "training/cifar").resume);
  EXPECT_EQ(action(plan, "training/cifar").why, "model changed");
  plan = bench.plan(training(2, "resnet20", 20));
  EXPECT_TRUE(action(plan, "training/cifar").resume);
}

// Checkpoints in a bucket outlive the nodes and the state; the plan says so without asking.
TEST_F(PlanTest, CheckpointsInABucketAreGoneOnFromWithoutAState) {
  auto kept = [](ir::Program program, const std::string& result) {
    for (ir::Step& step : program.steps) {
      if (step.kind != ir::StepKind::Training) continue;
      step.training["result"] = result;
      step.training["checkpoints"] = result + "/checkpoints";
    }
    return program;
  };
  ir::Program program = kept(training(1), "s3://models/paper");
  Plan plan = bench.plan(program);
  EXPECT_TRUE(action(plan, "training/cifar").resume);
  EXPECT_EQ(action(plan, "training/cifar").why,
            "new; resumes from the last checkpoint in s3://models/paper/checkpoints, if one exists");
  EXPECT_NE(action(plan, "training/cifar").summary.find("model and checkpoints to s3://models/paper"),
            std::string::npos);
  EXPECT_FALSE(action(bench.plan(training(1)), "training/cifar").resume);
  applied(program);
  EXPECT_FALSE(
      action(bench.plan(kept(training(1, "resnet20", 5), "s3://models/paper")), "training/cifar").resume)
      << "fewer epochs begin anew";
  EXPECT_EQ(
      make_destroy_plan(bench.snapshot).notes,
      std::vector<std::string>{"models and checkpoints in s3://models/paper stay: they are yours to remove"});
}

TEST_F(PlanTest, AMissingModelIsTrainedAgain) {
  bench.output = [](const ir::Step& step) {
    return step.kind == ir::StepKind::Training ? Json{{"model_path", "/nowhere/model"}} : Json::object();
  };
  ir::Program program = training(1);
  applied(program);
  bench.options.missing_outputs = {{"training/cifar", "/nowhere/model"}};
  Plan plan = bench.plan(program);
  EXPECT_EQ(marks(plan), Marks{"> training/cifar"});
  EXPECT_EQ(action(plan, "training/cifar").why,
            "its output is missing: /nowhere/model; resumes from the last checkpoint");
}

TEST_F(PlanTest, OtherMemoryIsAnotherMachineAndItsStepsRunAgain) {
  applied(cluster(1).build());
  Plan plan = bench.plan(cluster(1, "hello", 4 * kGiB).build());
  EXPECT_EQ(marks(plan), (Marks{"-/+ worker[0]", "> worker[0]/tools"}));
  const Action& replaced = action(plan, "worker[0]");
  EXPECT_EQ(replaced.why, "memory.size cannot change in place");
  ASSERT_EQ(replaced.changes.size(), 1u);
  EXPECT_EQ(replaced.changes[0].field, "memory.size");
  EXPECT_TRUE(replaced.changes[0].forces_replacement);
  EXPECT_EQ(action(plan, "worker[0]/tools").why, "worker[0] is replaced");
}

TEST_F(PlanTest, WhereTheCloudCanItChangesInPlace) {
  bench.cloud.memory_in_place = true;
  applied(cluster(1).build());
  Plan plan = bench.plan(cluster(1, "hello", 4 * kGiB).build());
  EXPECT_EQ(marks(plan), Marks{"~ worker[0]"});
  EXPECT_EQ(action(plan, "worker[0]").why, "memory.size changed");
  applied(cluster(1, "hello", 4 * kGiB).build());
  EXPECT_FALSE(bench.plan(cluster(1, "hello", 4 * kGiB).build()).changes_anything());
}

TEST_F(PlanTest, AnotherRecipeRunsOnItsNodesAndShowsWhatChanged) {
  applied(training(2));
  Plan plan = bench.plan(cluster(2, "bye").train("server", "worker").build());
  EXPECT_EQ(marks(plan), (Marks{"> server[0]/tools", "> worker[0]/tools", "> worker[1]/tools"}));
  const Action& step = action(plan, "worker[1]/tools");
  EXPECT_EQ(step.why, "its recipe changed");
  ASSERT_EQ(step.changes.size(), 1u);
  EXPECT_EQ(step.changes[0].field, "file '/etc/motd' content");
  EXPECT_EQ(step.changes[0].before, "hello");
  EXPECT_EQ(step.changes[0].after, "bye");
}

TEST_F(PlanTest, AStepThatBuildsUponAChangedOneRunsAgain) {
  auto program = [](const std::string& motd) {
    return ProgramBuilder()
        .deploy({"server", 2})
        .file("server", "base", "/a", motd)
        .file("server", "app", "/b", "x")
        .build();
  };
  applied(program("1"));
  Plan plan = bench.plan(program("2"));
  EXPECT_EQ(marks(plan),
            (Marks{"> server[0]/base", "> server[1]/base", "> server[0]/app", "> server[1]/app"}));
  EXPECT_EQ(action(plan, "server[1]/app").why, "it builds upon server[1]/base");
  EXPECT_EQ(action(plan, "server[1]/app").needs, Marks{"server[1]/base"});
  applied(program("2"));
  EXPECT_FALSE(bench.plan(program("2")).changes_anything());
}

TEST_F(PlanTest, ARemovedStepIsForgottenAndSaysWhatStays) {
  auto both = ProgramBuilder()
                  .deploy({"server"})
                  .file("server", "base", "/a", "1")
                  .file("server", "app", "/b", "x")
                  .build();
  applied(both);
  Plan plan = bench.plan(ProgramBuilder().deploy({"server"}).file("server", "app", "/b", "x").build());
  EXPECT_EQ(marks(plan), Marks{"x server[0]/base"}) << "and the step after it does not run for that";
  EXPECT_EQ(action(plan, "server[0]/base").summary, "file '/a' stays on the node");
}

TEST_F(PlanTest, ARenamedSystemIsAnotherMachineAndThePlanSaysHowToKeepIt) {
  applied(ProgramBuilder().deploy({"worker", 2}).build());
  ir::Program renamed = ProgramBuilder().deploy({"trainer", 2}).build();
  Plan plan = bench.plan(renamed);
  EXPECT_EQ(marks(plan), (Marks{"+ trainer[0]", "+ trainer[1]", "- worker[0]", "- worker[1]"}));
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("radlc state mv worker trainer"), std::string::npos);
}

TEST_F(PlanTest, AStepThatFailedOrWasInterruptedRunsAgain) {
  ir::Program program = cluster(1).build();
  applied(program);
  bench.snapshot.steps.at("worker[0]/tools").status = StepStatus::Failed;
  Plan plan = bench.plan(program);
  EXPECT_EQ(marks(plan), Marks{"> worker[0]/tools"});
  EXPECT_EQ(action(plan, "worker[0]/tools").why, "it failed last time");
  bench.snapshot.steps.at("worker[0]/tools").status = StepStatus::Interrupted;
  EXPECT_EQ(action(bench.plan(program), "worker[0]/tools").why, "it was interrupted last time");
}

TEST_F(PlanTest, AChangedSecretRunsTheStepAndIsNeverShown) {
  ir::Program program =
      ProgramBuilder().deploy({"server"}).file("server", "app", "/pw", ir::secret("input.pw")).build();
  bench.secrets = {{"input.pw", "hunter2"}};
  applied(program);
  EXPECT_FALSE(bench.plan(program).changes_anything());
  bench.secrets = {{"input.pw", "hunter3"}};
  Plan plan = bench.plan(program);
  EXPECT_EQ(marks(plan), Marks{"> server[0]/app"});
  EXPECT_EQ(action(plan, "server[0]/app").why, "the secret input.pw changed");
  std::string everything =
      to_json(plan).dump() + render_text(plan) + render_html(plan) + to_json(bench.snapshot).dump();
  EXPECT_EQ(everything.find("hunter"), std::string::npos);
}

TEST_F(PlanTest, AValueOfAReplacedNodeRunsTheStepsThatUseIt) {
  auto program = [](double memory) {
    return ProgramBuilder()
        .deploy({"server", 1, memory})
        .deploy({"worker"})
        .file("worker", "app", "/peer", ir::unknown("server[0].private_ip"))
        .output("address", ir::unknown("server[0].ip"))
        .build();
  };
  applied(program(2 * kGiB));
  EXPECT_FALSE(bench.plan(program(2 * kGiB)).changes_anything());
  Plan plan = bench.plan(program(4 * kGiB));
  EXPECT_EQ(marks(plan), (Marks{"-/+ server[0]", "> worker[0]/app"}));
  EXPECT_EQ(action(plan, "worker[0]/app").why, "server[0].private_ip will change");
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_TRUE(plan.outputs[0].before.is_string());
  EXPECT_TRUE(ir::is_unknown(plan.outputs[0].after));
}

TEST_F(PlanTest, ADriftedFileIsShownApartAndPutRight) {
  ir::Program program = cluster(1).build();
  applied(program);
  bench.observed.steps["worker[0]/tools"] = {
      {"file '/etc/motd'", "content", "edited", "hello", "-edited\n+hello\n"}};
  EXPECT_FALSE(bench.plan(program).changes_anything()) << "without a look the plan knows nothing of it";
  bench.refreshed = true;
  Plan plan = bench.plan(program);
  EXPECT_EQ(marks(plan), Marks{"> worker[0]/tools"});
  EXPECT_EQ(action(plan, "worker[0]/tools").why, "changed on the node: file '/etc/motd' content");
  ASSERT_EQ(plan.drift.size(), 1u);
  EXPECT_EQ(plan.drift[0].address, "worker[0]/tools");
}

TEST_F(PlanTest, ANodeThatWasRemovedFromOutsideIsMadeAgain) {
  ir::Program program = cluster(2).build();
  applied(program);
  bench.observed.resources = {{"worker[1]", "gone", {}, ""}};
  bench.refreshed = true;
  Plan plan = bench.plan(program);
  EXPECT_EQ(marks(plan), (Marks{"+ worker[1]", "> worker[1]/tools"}));
  EXPECT_EQ(plan.drift.at(0).what, "gone");
}

TEST_F(PlanTest, BarriersKeepTheNumberOfEdgesLinear) {
  auto program = ProgramBuilder()
                     .deploy({"worker", 50})
                     .file("worker", "one", "/a", "1")
                     .barrier("step/1")
                     .file("worker", "two", "/b", "1")
                     .build();
  Plan plan = bench.plan(program);
  size_t edges = 0;
  for (const Action& action : plan.actions) edges += action.needs.size();
  ASSERT_EQ(plan.barriers.size(), 1u);
  EXPECT_EQ(plan.barriers[0].needs.size(), 50u);
  EXPECT_LT(edges, 50 * 8u);
  applied(program);
  plan = bench.plan(ProgramBuilder()
                        .deploy({"worker", 51})
                        .file("worker", "one", "/a", "1")
                        .barrier("step/1")
                        .file("worker", "two", "/b", "1")
                        .build());
  EXPECT_EQ(marks(plan), (Marks{"+ worker[50]", "> worker[50]/one", "> worker[50]/two"}));
  EXPECT_EQ(plan.barriers.at(0).needs, Marks{"worker[50]/one"});
}

// Its processes would wait for each other until somebody looks.
TEST_F(PlanTest, ATrainingWhoseNodesAreInSeveralCloudsIsRefused) {
  FakeCloud other("other");
  bench.clouds.add(other);
  ir::Program program = training(2);
  program.nodes.back().cloud = "other";
  Result<Plan> plan = bench.try_plan(program);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find(
                "training/cifar: its nodes are in several clouds or regions (server[0] in local, "
                "worker[1] in other)"),
            std::string::npos)
      << plan.status().text();
}

TEST_F(PlanTest, ATrainingInSeveralCloudsThatOneNetworkJoinsIsPlanned) {
  FakeCloud other("other");
  bench.clouds.add(other);
  ir::Program program = training(2);
  program.nodes.back().cloud = "other";
  for (ir::Node& node : program.nodes) node.interfaces = {{.network = "lan", .wireguard_ip = "10.213.0.1"}};
  Result<Plan> plan = bench.try_plan(program);
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  for (const std::string& note : plan->notes)
    EXPECT_EQ(note.find("is in several clouds"), std::string::npos) << note;
  program.nodes.back().interfaces[0].network = "wan";
  EXPECT_FALSE(bench.try_plan(program).ok()) << "they are in two networks";
}

// Another node in front must not make a network change hands.
TEST_F(PlanTest, EachCloudHasItsOwnNetworksInAnyOrder) {
  FakeCloud other("other");
  bench.clouds.add(other);
  auto two_clouds = [](bool other_first) {
    ProgramBuilder builder;
    if (other_first) builder.deploy({"far"}).deploy({"near"});
    if (!other_first) builder.deploy({"near"}).deploy({"far"});
    ir::Program program = builder.build();
    for (ir::Node& node : program.nodes) {
      if (node.system == "far") node.cloud = "other";
    }
    return program;
  };
  Plan plan = bench.plan(two_clouds(false));
  EXPECT_EQ(action(plan, "network.lan").cloud, "local");
  EXPECT_EQ(action(plan, "network.lan@other").cloud, "other");
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("network 'lan' is in several clouds (local, other)"), std::string::npos);
  EXPECT_EQ(action(bench.plan(two_clouds(true)), "network.lan").cloud, "local");
  applied(two_clouds(false));
  Plan again = bench.plan(two_clouds(true));
  EXPECT_TRUE(again.actions.empty()) << render_text(again);
  ir::Program only_far = two_clouds(true);
  std::erase_if(only_far.nodes, [](const ir::Node& node) { return node.system == "near"; });
  EXPECT_EQ(bench.plan(only_far).find("network.lan@other"), nullptr) << "it stays as it is";
}

// Where all of step 2 is given up, step 3 must not begin while step 1 still runs elsewhere.
TEST_F(PlanTest, AStepNumberIsNotOverBeforeTheOnesBelowIt) {
  auto program = ProgramBuilder()
                     .deploy({"worker"})
                     .deploy({"server"})
                     .deploy({"client"})
                     .file("worker", "one", "/a", "1")
                     .file("server", "one", "/a", "1")
                     .barrier("step/1", "one")
                     .file("worker", "two", "/b", "1")
                     .barrier("step/2", "two")
                     .file("client", "three", "/c", "1")
                     .build();
  Plan plan = bench.plan(program);
  ASSERT_EQ(plan.barriers.size(), 2u);
  EXPECT_EQ(plan.barriers[1].needs, (Marks{"step/1", "worker[0]/two"}));
}

TEST_F(PlanTest, ABarrierThatAsksForSuccessSaysSoInTheSavedPlan) {
  auto program = ProgramBuilder()
                     .deploy({"worker", 2})
                     .deploy({"server"})
                     .file("worker", "one", "/a", "1")
                     .after("one")
                     .file("server", "two", "/b", "1")
                     .build();
  Plan plan = bench.plan(program);
  ASSERT_EQ(plan.barriers.size(), 1u);
  EXPECT_TRUE(plan.barriers[0].needs_success);
  Result<Plan> read = plan_from_json(to_json(plan));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_TRUE(read->barriers[0].needs_success);
}

TEST_F(PlanTest, AReplacedNetworkReplacesItsNodesInTheRightOrder) {
  applied(cluster(1).build());
  ir::Program changed = cluster(1).build();
  changed.networks[0].is_public = true;
  Plan plan = bench.plan(changed);
  EXPECT_EQ(marks(plan), (Marks{"-/+ network.lan", "-/+ server[0]", "-/+ worker[0]", "> server[0]/tools",
                                "> worker[0]/tools"}));
  EXPECT_EQ(action(plan, "network.lan").removed_after, (Marks{"server[0]", "worker[0]"}));
  ASSERT_TRUE(plan_graph(plan).ok());
  applied(changed);
  EXPECT_FALSE(bench.plan(changed).changes_anything());
}

TEST_F(PlanTest, EverythingThatCannotBeHadIsSaidAtOnce) {
  ir::Program program = ProgramBuilder().deploy({"big", 1, 1e13}).deploy({"far"}).deploy({"fine"}).build();
  program.nodes[1].cloud = "ec9";
  Status status = bench.try_plan(program).status();
  EXPECT_EQ(status.code(), Code::Invalid);
  EXPECT_NE(status.message().find("big[0]: no machine has that much memory"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("far[0]: its `deploy` names ec9: unknown cloud 'ec9'"), std::string::npos)
      << status.message();
}

TEST_F(PlanTest, ReplaceAcceptsOnlyExistingResources) {
  ir::Program program = cluster(2).build();
  applied(program);
  bench.options.replace = {"worker[1]"};
  EXPECT_EQ(marks(bench.plan(program)), (Marks{"-/+ worker[1]", "> worker[1]/tools"}));
  bench.options.replace = {"nobody[0]"};
  EXPECT_EQ(bench.try_plan(program).status().code(), Code::Invalid);
}

TEST_F(PlanTest, DestroyGoesBackwards) {
  applied(cluster(1).build());
  Plan plan = make_destroy_plan(bench.snapshot);
  EXPECT_EQ(marks(plan), (Marks{"- server[0]", "- worker[0]", "- network.lan", "- key.local"}));
  EXPECT_EQ(action(plan, "network.lan").removed_after, (Marks{"server[0]", "worker[0]"}));
  EXPECT_EQ(action(plan, "key.local").removed_after, (Marks{"network.lan", "server[0]", "worker[0]"}));
}

TEST_F(PlanTest, PricesAndTimesAddUp) {
  bench.cloud.offers = {{"small", "", Money::of(0.1)}};
  Plan plan = bench.plan(training(2));
  EXPECT_EQ(*plan.totals.price_per_hour.total(), Money::of(0.3)) << "exactly, as no sum of doubles is";
  EXPECT_FALSE(plan.totals.seconds_complete) << "nobody knows how long the training takes";
  applied(training(2));
  plan = bench.plan(training(3));
  EXPECT_EQ(*plan.totals.price_per_hour_before.total(), Money::of(0.3));
  EXPECT_EQ(*plan.totals.price_per_hour.total(), Money::of(0.4));
}

TEST_F(PlanTest, NumbersStayWithTheirNodes) {
  applied(cluster(2).build());
  std::map<std::string, int> kept = node_numbers(bench.snapshot);
  EXPECT_EQ(kept, (std::map<std::string, int>{{"server[0]", 0}, {"worker[0]", 1}, {"worker[1]", 2}}));
  EXPECT_FALSE(numbers_moved(cluster(2).build(), bench.snapshot));
  // A second server in front: freshly counted, the workers would move up.
  ir::Program more = ProgramBuilder().deploy({"server", 2}).deploy({"worker", 2}).build();
  EXPECT_TRUE(numbers_moved(more, bench.snapshot));
}

TEST_F(PlanTest, AnInterruptedRunIsTold) {
  bench.snapshot.open_intents = 2;
  EXPECT_NE(bench.plan(cluster(1).build()).notes.at(0).find("interrupted"), std::string::npos);
}

TEST_F(PlanTest, TenThousandNodesArePlannedInOneGo) {
  ir::Program program = ProgramBuilder().deploy({"worker", 10000}).build();
  EXPECT_EQ(bench.plan(program).actions.size(), 10002u);
}

}  // namespace
}  // namespace radl::test
