// What an earlier run may have left going on nodes, as the plan shows it and orders around it.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/plan/step_facts.h"
#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

using Names = std::vector<std::string>;

ProgramBuilder machines(int workers, const std::string& motd = "hello") {
  ProgramBuilder builder;
  builder.deploy({"server"}).deploy({"worker", workers});
  builder.file("server", "tools", "/etc/motd", motd).file("worker", "tools", "/etc/motd", motd);
  return builder;
}

ir::Program training(int workers, const std::string& model = "resnet20") {
  return machines(workers).train("server", "worker", model, 10).build();
}

class JobsLeftTest : public testing::Test {
 protected:
  // radlc was killed while this trained.
  void killed_in(const ir::Program& program) {
    bench.applied(program);
    StepRecord& record = bench.snapshot.steps.at("training/cifar");
    record.status = StepStatus::Interrupted;
    record.jobs = {{"cifar-1", record.made_on, record.nodes}};
  }
  Action action(const Plan& plan, const std::string& id) {
    const Action* found = plan.find(id);
    EXPECT_NE(found, nullptr) << id;
    return found ? *found : Action();
  }
  static bool has(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static ptrdiff_t place(const Plan& plan, const std::string& id) {
    return plan.find(id) - plan.actions.data();
  }
  PlanBench bench;
};

TEST(ServicesLeft, AreThoseThatNoStepOfTheNodeNamesAndNoneThatRadlcLogsInBy) {
  auto left = [](const Names& before, const Names& now, const std::string& node) {
    StepRecord record;
    record.kind = ir::step_kind_name(ir::StepKind::Native);
    record.nodes = {"worker[0]"};
    Json resources = Json::array();
    for (const std::string& name : before)
      resources.push_back({{"type", "service"}, {"name", name}, {"properties", {{"state", "running"}}}});
    record.definition = std::make_shared<const Json>(Json{{"resources", resources}});
    ir::Step step;
    step.nodes = {node};
    for (const std::string& name : now) step.resources.push_back({"service", name, Json::object(), {}});
    ir::Program program;
    program.steps = {step};
    return services_left(record, program);
  };
  EXPECT_EQ(left({"nginx", "redis.service"}, {}, "worker[0]"), (Names{"nginx", "redis.service"}));
  EXPECT_EQ(left({"nginx", "redis.service"}, {"nginx.service", "redis"}, "worker[0]"), Names());
  EXPECT_EQ(left({"nginx"}, {"nginx"}, "worker[1]"), Names{"nginx"}) << "kept on another node";
  EXPECT_EQ(left({"nginx", "nginx.service"}, {}, "worker[0]"), Names{"nginx"}) << "it is one";
  EXPECT_EQ(left({"backup.timer"}, {"backup"}, "worker[0]"), Names{"backup.timer"}) << "another unit";
  EXPECT_EQ(left({"ssh", "sshd", "ssh.service", "sshd.service", "ssh.socket", "sshd.socket", "ssh@1",
                  "sshd@2.service", "dropbear", "dropbear.socket"},
                 {}, "worker[0]"),
            Names());
  EXPECT_EQ(left({"sshguard"}, {}, "worker[0]"), Names{"sshguard"});
}

ir::Program of_program(const std::string& checkpoints, const std::string& argument) {
  ir::Program program = machines(1).build();
  ir::Step step;
  step.id = "program/p";
  step.kind = ir::StepKind::Program;
  step.nodes = {"worker[0]"};
  step.program = ir::Json{{"name", "p"},
                          {"main", "p.py"},
                          {"members", step.nodes},
                          {"arguments", {argument}},
                          {"identity", sha256_hex(checkpoints + argument)}};
  if (!checkpoints.empty()) step.program["checkpoints"] = checkpoints;
  step.digest = sha256_hex(step.program->dump());
  program.steps.push_back(step);
  return program;
}

TEST_F(JobsLeftTest, ThePlanSaysThatNamedCheckpointsStay) {
  for (const StepStatus status : {StepStatus::Done, StepStatus::Failed}) {
    for (const std::string checkpoints : {"", "/shared/p"}) {
      PlanBench other;
      other.applied(of_program(checkpoints, "one"));
      other.snapshot.steps.at("program/p").status = status;
      const Plan plan = other.plan(of_program(checkpoints, "two"));
      const std::string why = action(plan, "program/p").why;
      const bool failed = status == StepStatus::Failed, named = !checkpoints.empty();
      EXPECT_EQ(why.find("the checkpoints in /shared/p stay") != why.npos, named) << why;
      EXPECT_EQ(why.find("its checkpoints are not used") != why.npos, failed && !named) << why;
      const bool advised = std::any_of(plan.notes.begin(), plan.notes.end(), [](const std::string& note) {
        return note.find("`resume_arguments`") != note.npos;
      });
      EXPECT_EQ(advised, failed && !named);
    }
  }
}

TEST_F(JobsLeftTest, TheSameJobIsJoined) {
  killed_in(training(2));
  const Action again = action(bench.plan(training(2)), "training/cifar");
  EXPECT_EQ(again.joins, (Names{"server[0]", "worker[0]", "worker[1]"}));
  EXPECT_TRUE(again.ends.empty());
}

TEST_F(JobsLeftTest, AnotherVersionIsEndedFirst) {
  killed_in(training(2));
  const Action other = action(bench.plan(training(2, "vgg11")), "training/cifar");
  EXPECT_TRUE(other.joins.empty());
  EXPECT_EQ(other.ends, (Names{"server[0]", "worker[0]", "worker[1]"}));
}

TEST_F(JobsLeftTest, ASavedPlanKnowsItToo) {
  killed_in(training(2));
  Result<Plan> read = plan_from_json(to_json(bench.plan(training(2, "vgg11"))));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(action(*read, "training/cifar").ends.size(), 3u);
}

TEST_F(JobsLeftTest, ARefreshSaysWhereItRuns) {
  killed_in(training(2));
  bench.refreshed = true;
  bench.observed.running["training/cifar"] = {"worker[1]"};
  EXPECT_EQ(action(bench.plan(training(2, "vgg11")), "training/cifar").ends, (Names{"worker[1]"}));
}

TEST_F(JobsLeftTest, OnANodeThatGoesItEndsWithTheNodeAndBeforeItsSuccessorStarts) {
  killed_in(training(2));
  const Plan plan = bench.plan(training(1, "vgg11"));
  EXPECT_TRUE(has(action(plan, "training/cifar").needs, "worker[1]"));
  EXPECT_LT(place(plan, "worker[1]"), place(plan, "training/cifar"));
}

TEST_F(JobsLeftTest, ANodeThatIsAddedJoinsTheTrainingThatRuns) {
  for (const StepStatus status : {StepStatus::Interrupted, StepStatus::Detached}) {
    PlanBench other;
    other.applied(training(2));
    StepRecord& record = other.snapshot.steps.at("training/cifar");
    record.status = status;
    record.jobs = {{"cifar-1", record.made_on, record.nodes}};
    const Action joined = action(other.plan(training(3)), "training/cifar");
    EXPECT_EQ(joined.joins, (Names{"server[0]", "worker[0]", "worker[1]"}));
    EXPECT_TRUE(joined.ends.empty());
    EXPECT_TRUE(has(joined.needs, "worker[2]"));
    EXPECT_NE(joined.why.find("worker[2] joins the training that runs"), std::string::npos) << joined.why;
    EXPECT_EQ(joined.rejoins, status == StepStatus::Detached) << "whatever becomes of the new node";
  }
}

TEST_F(JobsLeftTest, AWorkerLeavesTheTrainingThatRunsBeforeItsNodeGoes) {
  killed_in(training(2));
  const Plan plan = bench.plan(training(1));
  const Action joined = action(plan, "training/cifar");
  EXPECT_EQ(joined.joins, (Names{"server[0]", "worker[0]"}));
  EXPECT_TRUE(joined.ends.empty());
  EXPECT_TRUE(has(joined.needs, "training/cifar/drain"));
  EXPECT_TRUE(has(action(plan, "worker[1]").removed_after, "training/cifar/drain"));
}

TEST_F(JobsLeftTest, AJobThatIsNotInTheFileAnyMoreIsEndedBeforeAnythingRunsOnItsNodes) {
  killed_in(training(2));
  const Plan plan = bench.plan(machines(2, "another").build());
  const Action gone = action(plan, "training/cifar");
  EXPECT_EQ(gone.verb, Verb::Forget);
  EXPECT_EQ(gone.ends, (Names{"server[0]", "worker[0]", "worker[1]"}));
  for (const char* id : {"server[0]/tools", "worker[1]/tools"})
    EXPECT_TRUE(has(action(plan, id).needs, "training/cifar")) << id;
}

TEST_F(JobsLeftTest, NoJobRunsOnAMachineThatWasReplacedSince) {
  killed_in(training(2));
  bench.snapshot.resources.at("worker[0]").id = "another";
  EXPECT_EQ(action(bench.plan(training(2, "vgg11")), "training/cifar").ends,
            (Names{"server[0]", "worker[1]"}));
}

TEST_F(JobsLeftTest, OfThreeVersionsTheOldestFolderIsRemoved) {
  killed_in(training(2));
  StepRecord& record = bench.snapshot.steps.at("training/cifar");
  record.jobs = {{"cifar-0", record.made_on, {}}, {"cifar-1", record.made_on, {"worker[0]"}}};
  const Action next = action(bench.plan(training(2, "vgg11")), "training/cifar");
  EXPECT_EQ(next.ends, (Names{"worker[0]"}));
  auto removed = [&](const std::string& name) {
    return std::any_of(next.changes.begin(), next.changes.end(), [&](const FieldChange& change) {
      return change.field == "~/.radl/jobs/" + name && change.after == "removed";
    });
  };
  EXPECT_TRUE(removed("cifar-0"));
  EXPECT_FALSE(removed("cifar-1"));
}

TEST_F(JobsLeftTest, AJobThatIsDoneAndMayStillRunSomewhereIsNoted) {
  killed_in(training(2));
  StepRecord& record = bench.snapshot.steps.at("training/cifar");
  record.status = StepStatus::Done;
  record.jobs[0].may_run = {"worker[1]"};
  const Plan plan = bench.plan(training(2));
  EXPECT_TRUE(plan.actions.empty());
  ASSERT_FALSE(plan.notes.empty());
  EXPECT_NE(plan.notes.back().find("worker[1]"), std::string::npos);
}

// Another process supervises it: a plan says so, and works around it.
TEST_F(JobsLeftTest, ASupervisedJobIsLeftAloneWithWhatWaitsForIt) {
  killed_in(training(1));
  bench.snapshot.supervised["training/cifar"] = "apply by ana on host7";
  const Plan same = bench.plan(training(1));
  EXPECT_EQ(same.find("training/cifar"), nullptr);
  ASSERT_EQ(same.notes.size(), 1u);
  EXPECT_NE(same.notes[0].find("ana"), std::string::npos) << same.notes[0];
  const Plan more = bench.plan(training(2));
  EXPECT_NE(more.find("worker[1]"), nullptr) << "a node is added beside it";
  EXPECT_EQ(more.find("training/cifar"), nullptr);
  bench.snapshot.supervised.clear();
  EXPECT_NE(bench.plan(training(2)).find("training/cifar"), nullptr);
}

TEST_F(JobsLeftTest, ANodeThatASupervisedJobNeedsIsNotRemoved) {
  killed_in(training(2));
  bench.snapshot.supervised["training/cifar"] = "apply by ana on host7";
  EXPECT_EQ(bench.try_plan(training(0)).status().code(), Code::Conflict);
  const Plan fewer = bench.plan(training(1));
  EXPECT_EQ(action(fewer, "worker[1]").removed_after.back(), "training/cifar/drain") << "its worker leaves";
  bench.snapshot.supervised.clear();
  EXPECT_TRUE(bench.try_plan(training(1)).ok());
}

TEST_F(JobsLeftTest, NorIsItReplacedBecauseTheFileHasChanged) {
  killed_in(training(1));
  bench.snapshot.supervised["training/cifar"] = "apply by ana on host7";
  ir::Program larger = training(1);
  for (ir::Node& node : larger.nodes) node.requirements["memory.size"].min = 8 * kGiB;
  EXPECT_EQ(bench.try_plan(larger).status().code(), Code::Conflict);
  bench.options.replace = {"worker[0]"};
  EXPECT_TRUE(bench.try_plan(training(1)).ok()) << "one that is known to be lost";
}

TEST_F(JobsLeftTest, AJobThatWasLeftRunningIsJoined) {
  killed_in(training(1));
  bench.snapshot.steps.at("training/cifar").status = StepStatus::Detached;
  EXPECT_FALSE(action(bench.plan(training(1)), "training/cifar").joins.empty());
}

// Its worker's node was replaced, or could not be: the others run on, and are joined whatever becomes of it.
TEST_F(JobsLeftTest, ATrainingThatWasLeftRunningIsJoinedWithoutAWorkersNode) {
  killed_in(training(2));
  StepRecord& record = bench.snapshot.steps.at("training/cifar");
  record.status = StepStatus::Detached;
  record.jobs.back().may_run = {"server[0]", "worker[0]"};
  const Action joined = action(bench.plan(training(2)), "training/cifar");
  EXPECT_EQ(joined.joins, (Names{"server[0]", "worker[0]"}));
  EXPECT_TRUE(joined.rejoins);
  record.jobs.back().may_run = {"worker[0]", "worker[1]"};
  EXPECT_FALSE(action(bench.plan(training(2)), "training/cifar").rejoins) << "the server is gone";
}

TEST(CanMiss, WorkersOfATrainingButNotItsServersOrAChiefWithoutSuccessor) {
  ir::Step step;
  step.kind = ir::StepKind::Training;
  step.training = ir::Json{{"cluster", {{"ps", {"s"}}, {"worker", {"w0", "w1", "s"}}}}};
  EXPECT_TRUE(can_miss(step, "w0"));
  EXPECT_FALSE(can_miss(step, "s"));
  EXPECT_FALSE(can_miss(step, "other"));
  step.training =
      ir::Json{{"cluster", {{"worker", {"w0", "w1"}}}}, {"job", {{"sync", {{"mode", "allreduce"}}}}}};
  EXPECT_TRUE(can_miss(step, "w0")) << "worker 0 is the chief, and the other one takes over";
  EXPECT_TRUE(can_miss(step, "w1"));
  step.training["cluster"]["worker"] = {"w0"};
  EXPECT_FALSE(can_miss(step, "w0"));
}

}  // namespace
}  // namespace radl::test
