// Systems that grow and shrink: which nodes they have, what is drained before, what is left alone.
#include "runtime/plan/scaling.h"

#include <gtest/gtest.h>

#include "runtime/plan/autoscaling.h"
#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

using Ordinals = std::vector<int>;

ElasticRules rules(int min, std::optional<int> max, double idle = 60) {
  ElasticRules made;
  made.system = "worker";
  made.min = min;
  made.max = max;
  made.idle_seconds = idle;
  return made;
}

TEST(ChosenNodes, NewOnesFillGapsAndTheLastGoes) {
  EXPECT_EQ(*chosen_nodes("worker", {0, 2}, {4, {}}), (Ordinals{0, 1, 2, 3}));
  EXPECT_EQ(*chosen_nodes("worker", {0, 1, 5}, {2, {}}), (Ordinals{0, 1}));
  EXPECT_EQ(*chosen_nodes("worker", {}, {0, {}}), Ordinals{});
}

TEST(ChosenNodes, ANamedNodeGoesInPlaceOfTheLast) {
  EXPECT_EQ(*chosen_nodes("worker", {0, 1, 2}, {std::nullopt, {0}}), (Ordinals{1, 2}));
  EXPECT_EQ(*chosen_nodes("worker", {0, 1, 2}, {1, {0}}), Ordinals{1});
  EXPECT_FALSE(chosen_nodes("worker", {0, 1, 2}, {3, {0}}).ok()) << "it cannot go and be there";
  EXPECT_EQ(chosen_nodes("worker", {0, 1, 3}, {1, {2}}).status().message(),
            "no node worker[2]; existing: worker[0..1,3]");
}

TEST(StillChosen, UntilTheFileSaysAnotherNumber) {
  const Scalings scaled = {{"worker", {2, {0, 1, 4}}}, {"gone", {1, {0}}}};
  EXPECT_EQ(still_chosen(scaled, {{"worker", 2}}), (Scalings{{"worker", {2, {0, 1, 4}}}}));
  EXPECT_TRUE(still_chosen(scaled, {{"worker", 3}}).empty());
}

TEST(ElasticChoice, WishesHoldWithinTheRules) {
  const ElasticLook look = *read_elastic_look("wish 3 add\nwish 0 remove\nwish 7 add\n");
  const ElasticChoice choice = choose_elastic(rules(0, 2), {0, 1}, look, 0);
  EXPECT_EQ(choice.nodes, (Ordinals{1, 3}));
  EXPECT_EQ(choice.fulfilled, (std::vector<std::string>{"0 remove", "3 add"})) << "the other wish is kept";
  EXPECT_EQ(choice.left_out, "worker[7] is requested, but at most 2 nodes are allowed");
  EXPECT_EQ(choose_elastic(rules(2, 4), {0, 1}, *read_elastic_look("wish 1 remove\n"), 0).nodes,
            (Ordinals{0, 1}));
}

TEST(ElasticChoice, NodesToBeReplacedAreRemovedFirst) {
  const ElasticChoice choice = choose_elastic(rules(0, 3), {0, 1}, *read_elastic_look("wish 1 renew\n"), 0);
  EXPECT_EQ(choice.nodes, Ordinals{0});
  EXPECT_EQ(choice.fulfilled, std::vector<std::string>{"1 renew"});
}

TEST(ElasticChoice, WhatHoldsAlreadyIsFulfilled) {
  const ElasticChoice choice =
      choose_elastic(rules(0, 1), {0}, *read_elastic_look("wish 0 add\nwish 4 remove\n"), 0);
  EXPECT_EQ(choice.nodes, Ordinals{0});
  EXPECT_EQ(choice.fulfilled.size(), 2U);
  EXPECT_TRUE(choice.left_out.empty());
}

TEST(ElasticChoice, ANumberGrowsAtOnceAndShrinksWhenIdle) {
  const ElasticLook many = *read_elastic_look("wanted 9\n"), none = *read_elastic_look("wanted 0\n");
  EXPECT_EQ(choose_elastic(rules(1, 3), {0}, many, 0).nodes, (Ordinals{0, 1, 2}));
  EXPECT_EQ(choose_elastic(rules(1, 3), {0, 1, 2}, none, 59).nodes, (Ordinals{0, 1, 2}));
  EXPECT_EQ(choose_elastic(rules(1, 3), {0, 1, 2}, none, 61).nodes, Ordinals{0});
}

TEST(ElasticLooks, AnythingElseIsRefused) {
  for (const char* text : {"wanted\n", "wanted -1\n", "wanted 2 3\n", "wish x add\n", "wish 1 take\n",
                           "error\n", "wanted 12345678\n", "wish 1 add more\n"})
    EXPECT_FALSE(read_elastic_look(text).ok()) << text;
}

struct ScalePlans : testing::Test {
  static ir::Program site(int workers) {
    ir::Program program = ProgramBuilder()
                              .deploy({"server"})
                              .deploy({"worker", workers})
                              .file("server", "head", "/members", std::to_string(workers))
                              .file("worker", "tools", "/a", "1")
                              .build();
    for (ir::Step& step : program.steps) {
      if (step.recipe == "head")
        step.resources.push_back(
            {"elastic", "workers", ir::Json{{"system", "worker"}, {"min", 1}, {"drain", "leave"}}, {}});
    }
    return program;
  }
  PlanBench bench;
};

TEST_F(ScalePlans, NodesAreDrainedBeforeTheyGoAndBeforeTheHeadLearnsOfIt) {
  bench.applied(site(3));
  const Plan plan = bench.plan(site(1));
  const Action* drain = plan.find("server[0]/drain worker");
  ASSERT_NE(drain, nullptr);
  EXPECT_EQ(drain->spec["drains"], (Json{"worker[1]", "worker[2]"}));
  for (const char* node : {"worker[1]", "worker[2]"}) {
    const auto& before = plan.find(node)->removed_after;
    EXPECT_NE(std::find(before.begin(), before.end(), drain->id), before.end());
  }
  const auto& needs = plan.find("server[0]/head")->needs;
  EXPECT_NE(std::find(needs.begin(), needs.end(), drain->id), needs.end());
  EXPECT_EQ(plan_from_json(to_json(plan))->find(drain->id)->spec, drain->spec) << "a saved plan has it";
}

// `drain = 'leave ${self.private_ip}'`: the address is in the state.
TEST_F(ScalePlans, ACommandThatNamesAnAddressDrainsToo) {
  auto with = [](int workers, const char* property, Json value) {
    ir::Program program = site(workers);
    for (ir::Step& step : program.steps)
      for (ir::Resource& resource : step.resources)
        if (resource.type == "elastic") resource.properties[property] = value;
    return program;
  };
  const Json command{{"$join", {"leave ", ir::unknown("server[0].private_ip")}}};
  bench.applied(with(2, "drain", command));
  EXPECT_NE(bench.plan(with(1, "drain", command)).find("server[0]/drain worker"), nullptr);
  EXPECT_EQ(bench.plan(with(1, "drain", "")).find("server[0]/drain worker"), nullptr);
  EXPECT_EQ(elastic_rules(with(1, "wanted", command)).front().wanted, command);
  EXPECT_EQ(check_elastic(with(1, "max", ir::unknown("server[0].port"))).message(),
            "elastic 'workers' of server[0]/head: 'max' must be known when it is planned");
}

// Ray's `idle`: only `radlc autoscale` asks a scheduler how many nodes it wants.
TEST_F(ScalePlans, APlanSaysThatAutoscaleMustRun) {
  auto told = [](const Plan& plan) {
    return std::count_if(plan.notes.begin(), plan.notes.end(), [](const std::string& note) {
      return note.find("radlc autoscale") != std::string::npos;
    });
  };
  EXPECT_EQ(told(bench.plan(site(1))), 0);
  ir::Program asked = site(1);
  for (ir::Step& step : asked.steps)
    for (ir::Resource& resource : step.resources)
      if (resource.type == "elastic") resource.properties["wanted"] = "ask";
  EXPECT_EQ(told(bench.plan(asked)), 1);
  bench.applied(asked);
  EXPECT_EQ(told(bench.plan(asked)), 0) << "nothing of it is planned";
}

TEST_F(ScalePlans, TwoSchedulersOfANodeDrainEach) {
  auto both = [](int workers) {
    ir::Program program = site(workers);
    for (ir::Step& step : program.steps)
      if (step.recipe == "head")
        step.resources.push_back({"elastic", "files", ir::Json{{"system", "worker"}, {"drain", "copy"}}, {}});
    return program;
  };
  bench.applied(both(2));
  const Plan plan = bench.plan(both(1));
  const Action *one = plan.find("server[0]/drain worker"),
               *other = plan.find("server[0]/drain worker of files");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(plan.find("worker[1]")->removed_after, (std::vector<std::string>{one->id, other->id}));
  for (const Action* drain : {one, other})
    for (const std::string& need : drain->needs) EXPECT_TRUE(need != one->id && need != other->id) << need;
}

TEST_F(ScalePlans, PartlyRemovedOrUnconfiguredNodesAreNotDrained) {
  bench.applied(site(2));
  bench.snapshot.resources.at("worker[1]").status = ResourceStatus::Deleting;
  EXPECT_EQ(bench.plan(site(1)).find("server[0]/drain worker"), nullptr);
  bench.snapshot.resources.at("worker[1]").status = ResourceStatus::Ready;
  bench.snapshot.steps.at("server[0]/head").status = StepStatus::Failed;
  EXPECT_EQ(bench.plan(site(1)).find("server[0]/drain worker"), nullptr);
}

TEST_F(ScalePlans, TheStateLearnsOfTheChoiceAndThePlanSaysIt) {
  bench.applied(site(2));
  bench.options.scaled = Scalings{{"worker", {2, {0, 1, 2}}}};
  const Plan plan = bench.plan(site(3));
  ASSERT_EQ(plan.scaled.size(), 1U);
  EXPECT_EQ(plan.scaled[0].chosen->ordinals, (Ordinals{0, 1, 2}));
  EXPECT_EQ(plan.notes.front(), "`radlc scale` set 'worker' to 3 nodes; the file says 2");
  EXPECT_EQ(plan_from_json(to_json(plan))->scaled[0].chosen, plan.scaled[0].chosen);
  bench.done(site(3), plan);
  bench.snapshot.scaled = *bench.options.scaled;
  EXPECT_FALSE(bench.plan(site(3)).changes_anything());
  bench.options.scaled = Scalings{};
  EXPECT_TRUE(bench.plan(site(2)).changes_anything()) << "the file holds again, and the state is to know it";
}

TEST_F(ScalePlans, JobsAreLeftAloneAndKeepTheMembersThatTheyNeed) {
  auto with_job = [](int workers) {
    return ProgramBuilder().deploy({"server"}).deploy({"worker", workers}).train("server", "worker").build();
  };
  bench.applied(with_job(2));
  bench.options.leave_jobs = true;
  EXPECT_EQ(bench.plan(with_job(3)).find("training/cifar"), nullptr)
      << "it has ended, and is not begun again";
  bench.snapshot.steps.at("training/cifar").status = StepStatus::Interrupted;
  EXPECT_TRUE(bench.try_plan(with_job(3)).ok());
  EXPECT_EQ(bench.try_plan(with_job(0)).status().code(), Code::Conflict) << "nobody would train";
}

TEST_F(ScalePlans, WorkersLeaveATrainingBeforeTheirNodesAreRemoved) {
  auto with_job = [](int workers) {
    return ProgramBuilder().deploy({"server"}).deploy({"worker", workers}).train("server", "worker").build();
  };
  bench.applied(with_job(3));
  bench.options.leave_jobs = true;
  EXPECT_EQ(bench.plan(with_job(2)).find("training/cifar/drain"), nullptr) << "it has ended";
  bench.snapshot.steps.at("training/cifar").status = StepStatus::Interrupted;
  const Plan plan = bench.plan(with_job(2));
  const Action* drain = plan.find("training/cifar/drain");
  ASSERT_NE(drain, nullptr);
  EXPECT_EQ(drain->spec["drains"], Json({"worker[2]"}));
  EXPECT_EQ(plan.find("worker[2]")->removed_after.back(), drain->id);
}

TEST_F(ScalePlans, AnAddedNodeJoinsATrainingThatRuns) {
  auto with_job = [](int workers) {
    return ProgramBuilder().deploy({"server"}).deploy({"worker", workers}).train("server", "worker").build();
  };
  bench.applied(with_job(2));
  bench.options.leave_jobs = true;
  bench.options.scaled = Scalings{{"worker", {2, {0, 1, 2}}}};
  StepRecord& record = bench.snapshot.steps.at("training/cifar");
  record.jobs = {{"cifar-1", record.made_on, record.nodes}};
  EXPECT_EQ(bench.plan(with_job(3)).find("training/cifar"), nullptr) << "it has ended";
  record.status = StepStatus::Detached;
  const Plan plan = bench.plan(with_job(3));
  const Action* joins = plan.find("training/cifar");
  ASSERT_NE(joins, nullptr);
  EXPECT_EQ(joins->spec, Json({{"only_joins", true}})) << "it is not started if it does not run";
  EXPECT_EQ(joins->joins.size(), 3u);
  EXPECT_EQ(bench.plan(with_job(2)).find("training/cifar"), nullptr) << "nobody joins it";

  bench.snapshot.supervised["training/cifar"] = "apply by ana on host7";
  const Plan beside = bench.plan(with_job(3));
  EXPECT_EQ(beside.find("training/cifar"), nullptr) << "its supervisor lets it join";
  const bool noted = std::any_of(beside.notes.begin(), beside.notes.end(), [](const std::string& note) {
    return note.find("ana") != note.npos && note.find("worker[2] joins") != note.npos;
  });
  EXPECT_TRUE(noted);
}

}  // namespace
}  // namespace radl::test
