// `state mv`: what was done is not done again, and nothing is lost, also in the middle of an interrupted run.
#include <gtest/gtest.h>

#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

// Two recipes on each node, values of nodes, a training over all of them: everything that names a node.
ir::Program cluster(const std::string& worker) {
  return ProgramBuilder()
      .deploy({"server"})
      .deploy({worker, 2})
      .default_host_names()
      .file(worker, "base", "/a", "1")
      .file(worker, "tools", "/b", ir::unknown("server[0].private_ip"))
      .file("server", "hosts", "/c", ir::Json{{"$join", {ir::unknown(worker + "[1].private_ip"), " w"}}})
      .train("server", worker)
      .build();
}

class MoveTest : public testing::Test {
 protected:
  MoveTest() {
    bench.runner.output = [](const ir::Step& step) {
      return step.kind == ir::StepKind::Training ? Json{{"test_accuracy", 0.9}} : Json::object();
    };
    EXPECT_TRUE(bench.apply(cluster("worker")).status.ok());
  }
  Status move(const std::string& from, const std::string& to) {
    std::unique_ptr<Store> store = bench.store();
    EXPECT_TRUE(store->lock("state mv", std::chrono::milliseconds(0)).ok());
    return store->move(from, to);
  }
  // As a run leaves it that was killed in the middle of `kind` on the node.
  void leave_open(Intent::Kind kind, const std::string& address) {
    std::unique_ptr<Store> store = bench.store();
    EXPECT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
    Intent intent;
    intent.kind = kind;
    intent.address = address;
    intent.resource = store->snapshot()->resources.at(address);
    EXPECT_TRUE(store->begin(intent).ok());
  }
  Bench bench;
};

TEST_F(MoveTest, NothingRunsAgainUnderTheNewName) {
  ASSERT_TRUE(move("worker", "trainer").ok());
  Plan plan = bench.plan(cluster("trainer"));
  EXPECT_FALSE(plan.changes_anything()) << render_text(plan);
  EXPECT_EQ(bench.snapshot().resources.at("trainer[1]").system, "trainer");
  EXPECT_TRUE(bench.apply(cluster("trainer")).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 3u);
}

TEST_F(MoveTest, AndBackAgain) {
  ASSERT_TRUE(move("worker", "trainer").ok());
  ASSERT_TRUE(move("trainer", "worker").ok());
  EXPECT_FALSE(bench.plan(cluster("worker")).changes_anything());
}

TEST_F(MoveTest, WhatChangesAfterwardsIsNoticed) {
  ASSERT_TRUE(move("worker", "trainer").ok());
  ir::Program changed = cluster("trainer");
  for (ir::Step& step : changed.steps) {
    if (step.id != "server[0]/hosts") continue;
    step.resources[0].properties["content"] = "other";
    step.digest = "other";
  }
  EXPECT_EQ(bench.plan(changed).find("server[0]/hosts")->why, "its recipe changed");
  ir::Program more = ProgramBuilder(changed.name)
                         .deploy({"server"})
                         .deploy({"trainer", 2})
                         .train("server", "trainer", "lenet")
                         .build();
  EXPECT_NE(bench.plan(more).find("training/cifar"), nullptr);
}

TEST_F(MoveTest, OneNodeBecomesOneOfAnotherSystem) {
  ASSERT_TRUE(move("worker[1]", "spare[0]").ok());
  Snapshot state = bench.snapshot();
  EXPECT_EQ(state.resources.count("worker[1]"), 0u);
  EXPECT_EQ(state.resources.at("spare[0]").ordinal, 0);
  EXPECT_EQ(state.steps.count("spare[0]/tools"), 1u);
  EXPECT_EQ(state.steps.at("worker[0]/tools").digest.empty(), false) << "it does not name the one that moved";
}

TEST_F(MoveTest, ANetworkTakesWhatNeedsItAlong) {
  ASSERT_TRUE(move("network.lan", "network.inner").ok());
  for (const auto& [address, record] : bench.snapshot().resources) {
    EXPECT_EQ(std::count(record.needs.begin(), record.needs.end(), "network.lan"), 0) << address;
  }
  EXPECT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u);
}

TEST_F(MoveTest, NamesThatFitNoSuchThingAreRefused) {
  EXPECT_EQ(move("worker[0]", "trainer").code(), Code::Invalid);
  EXPECT_EQ(move("worker", "trainer[0]").code(), Code::Invalid);
  EXPECT_EQ(move("network.lan", "lan").code(), Code::Invalid);
  EXPECT_EQ(move("worker[0]", "server[0]").code(), Code::Exists);
  EXPECT_FALSE(bench.plan(cluster("worker")).changes_anything());
}

// The audit's case: the update's record came back under the old name, and the plan removed the live machine.
TEST_F(MoveTest, AnOpenUpdateMovesAlong) {
  leave_open(Intent::Kind::Update, "worker[0]");
  ASSERT_TRUE(move("worker", "trainer").ok());
  int destroys = bench.cloud.destroys;
  EXPECT_TRUE(bench.apply(cluster("trainer")).status.ok());
  EXPECT_EQ(bench.cloud.destroys, destroys);
  EXPECT_EQ(bench.snapshot().resources.count("worker[0]"), 0u);
  EXPECT_EQ(bench.snapshot().open_intents, 0u);
  EXPECT_FALSE(bench.plan(cluster("trainer")).changes_anything());
}

TEST_F(MoveTest, AnOpenDestroyMovesAlong) {
  leave_open(Intent::Kind::Destroy, "worker[0]");
  ASSERT_TRUE(move("worker", "trainer").ok());
  EXPECT_TRUE(bench.apply(cluster("trainer")).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 3u);
  EXPECT_EQ(bench.snapshot().resources.size(), 5u);
  EXPECT_EQ(bench.snapshot().open_intents, 0u);
}

TEST_F(MoveTest, AnOpenCreateMovesAlong) {
  bench.cloud.fail_next({"create", "worker[2]", Status(Code::Lost, "no answer"), true});
  bench.cloud.fail_next({"look", "worker[2]", Status(Code::Auth, "not allowed")});
  ir::Program more = ProgramBuilder().deploy({"server"}).deploy({"worker", 3}).build();
  EXPECT_FALSE(bench.apply(more).status.ok());
  ASSERT_TRUE(move("worker", "trainer").ok());
  ir::Program renamed = ProgramBuilder().deploy({"server"}).deploy({"trainer", 3}).build();
  EXPECT_TRUE(bench.apply(renamed).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 4u);
  EXPECT_EQ(bench.snapshot().resources.count("trainer[2]"), 1u);
  EXPECT_EQ(bench.snapshot().resources.count("worker[2]"), 0u);
}

// "Forget a resource; nothing is destroyed": also when an interrupted run had begun to.
TEST_F(MoveTest, AReleasedResourceIsNotTouchedByTheNextRun) {
  for (Intent::Kind kind : {Intent::Kind::Update, Intent::Kind::Destroy}) {
    Bench other;
    ASSERT_TRUE(other.apply(cluster("worker")).status.ok());
    std::string id = other.snapshot().resources.at("worker[0]").id;
    {
      std::unique_ptr<Store> store = other.store();
      ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
      Intent intent;
      intent.kind = kind;
      intent.address = "worker[0]";
      intent.resource = store->snapshot()->resources.at("worker[0]");
      ASSERT_TRUE(store->begin(intent).ok());
      ASSERT_TRUE(store->remove_resource("worker[0]").ok());
      EXPECT_TRUE(store->open_intents()->empty());
    }
    EXPECT_TRUE(other.apply(cluster("worker")).status.ok());
    EXPECT_TRUE(std::filesystem::exists(other.folder.path() + "/cloud/" + id));
    EXPECT_EQ(other.cloud.count("node"), 4u);
  }
}

// `moved` in the file.
class MovedTest : public testing::Test {
 protected:
  static ir::Program moved(ir::Program program, std::vector<std::pair<std::string, std::string>> names) {
    for (const auto& [from, to] : names) program.moves.push_back({from, to, {"demo.radl", 3, 1}});
    return program;
  }
  Status refusal(const ir::Program& program) {
    Result<Plan> plan = bench.try_plan(program, bench.snapshot());
    return plan.ok() ? Status() : plan.status();
  }
  Bench bench;
};

TEST_F(MovedTest, ARenamedSystemKeepsItsMachinesAndStepsAndThePlanSaysSo) {
  bench.runner.output = [](const ir::Step& step) {
    return step.kind == ir::StepKind::Training ? Json{{"test_accuracy", 0.9}} : Json::object();
  };
  ASSERT_TRUE(bench.apply(cluster("worker")).status.ok());
  const std::string id = bench.snapshot().resources.at("worker[1]").id;
  const ir::Program renamed = moved(cluster("trainer"), {{"worker", "trainer"}});
  Plan plan = bench.plan(renamed);
  EXPECT_TRUE(plan.changes_anything());
  EXPECT_EQ(marks(plan), std::vector<std::string>());
  EXPECT_NE(render_text(plan, {}).find("worker -> trainer"), std::string::npos) << render_text(plan, {});
  EXPECT_EQ(summary_line(plan).substr(0, 14), "Plan: 1 moved;");
  EXPECT_EQ(bench.snapshot().resources.count("worker[1]"), 1u) << "a plan changes nothing";
  ASSERT_TRUE(bench.apply(renamed).status.ok());
  EXPECT_EQ(bench.snapshot().resources.at("trainer[1]").id, id);
  EXPECT_FALSE(bench.plan(renamed).changes_anything()) << "a move is made once";
  EXPECT_EQ(bench.cloud.count("node"), 3u);
}

TEST_F(MovedTest, ARecipeThatIsCalledAsItsSystemGoesAlong) {
  auto named = [](const std::string& system) {
    return ProgramBuilder().deploy({system, 2}).default_host_names().file(system, system, "/a", "1").build();
  };
  ASSERT_TRUE(bench.apply(named("worker")).status.ok());
  const size_t ran = bench.runner.ran.size();
  const ir::Program renamed = moved(named("trainer"), {{"worker", "trainer"}});
  EXPECT_EQ(marks(bench.plan(renamed)), std::vector<std::string>());
  ASSERT_TRUE(bench.apply(renamed).status.ok());
  EXPECT_EQ(bench.runner.ran.size(), ran);
  EXPECT_EQ(bench.snapshot().steps.count("trainer[0]/trainer"), 1u);
}

TEST_F(MovedTest, AnInstanceOfAModuleKeepsAllThatBearsItsPrefix) {
  auto instance = [](const std::string& name) {
    return ProgramBuilder()
        .deploy({name + ".worker", 2})
        .deploy({"server"})
        .default_host_names()
        .file(name + ".worker", name + ".tools", "/a", "1")
        .file("server", "hosts", "/c", ir::unknown(name + ".worker[1].private_ip"))
        .build();
  };
  ASSERT_TRUE(bench.apply(instance("cifar")).status.ok());
  const ir::Program renamed = moved(instance("data"), {{"cifar", "data"}});
  EXPECT_EQ(marks(bench.plan(renamed)), std::vector<std::string>());
  ASSERT_TRUE(bench.apply(renamed).status.ok());
  EXPECT_EQ(bench.snapshot().steps.count("data.worker[1]/data.tools"), 1u);
  EXPECT_EQ(bench.snapshot().resources.count("cifar.worker[0]"), 0u);
}

TEST_F(MovedTest, AnOldStateFollowsAChainAndANewerOneStartsWhereItIs) {
  const auto chain = std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"b", "c"}};
  auto named = [](const std::string& system) {
    return ProgramBuilder().deploy({system}).default_host_names().build();
  };
  for (const char* before : {"a", "b"}) {
    Bench other;
    ASSERT_TRUE(other.apply(named(before)).status.ok());
    EXPECT_TRUE(other.apply(moved(named("c"), chain)).status.ok());
    EXPECT_EQ(other.cloud.count("node"), 1u) << before;
    EXPECT_EQ(other.snapshot().resources.count("c[0]"), 1u) << before;
  }
}

TEST_F(MovedTest, WhereBothAreThereNothingIsGuessed) {
  ASSERT_TRUE(bench.apply(ProgramBuilder().deploy({"worker"}).deploy({"trainer"}).build()).status.ok());
  Status refused = refusal(moved(ProgramBuilder().deploy({"trainer"}).build(), {{"worker", "trainer"}}));
  EXPECT_EQ(refused.code(), Code::Exists);
  EXPECT_NE(refused.text().find("moved ('worker', 'trainer') (demo.radl:3)"), std::string::npos)
      << refused.text();
  EXPECT_NE(refused.text().find("both exist"), std::string::npos) << refused.text();
}

TEST_F(MovedTest, ANameThatIsNowhereIsNoReasonToRemoveAMachine) {
  ASSERT_TRUE(bench.apply(ProgramBuilder().deploy({"worker"}).build()).status.ok());
  Status refused = refusal(moved(ProgramBuilder().deploy({"trainer"}).build(), {{"worker", "traner"}}));
  EXPECT_EQ(refused.code(), Code::Invalid);
  EXPECT_NE(refused.text().find("the file has no 'traner'"), std::string::npos) << refused.text();
}

TEST_F(MovedTest, WhatWasLookedAtUnderTheOldNameIsKeptToo) {
  ASSERT_TRUE(bench.apply(ProgramBuilder().deploy({"worker"}).default_host_names().build()).status.ok());
  const ir::Program renamed =
      moved(ProgramBuilder().deploy({"trainer"}).default_host_names().build(), {{"worker", "trainer"}});
  EXPECT_TRUE(bench.apply(renamed).status.ok());
  Result<Observed> observed = bench.look(renamed);
  ASSERT_TRUE(observed.ok()) << observed.status().text();
  EXPECT_FALSE(bench.plan(renamed, &*observed).changes_anything());
}

// prevent_destroy of a system that was taken out of the file.
class RememberedProtectionTest : public testing::Test {
 protected:
  static ir::Program workers(bool stay) {
    ir::Program program = ProgramBuilder().deploy({"server"}).deploy({"worker", 2}).build();
    for (ir::Node& node : program.nodes) {
      if (node.system != "worker" || !stay) continue;
      node.requirements["prevent_destroy"].equals = "yes";
      node.origin = {"demo.radl", 7, 1};
    }
    return program;
  }
  Status refusal(const ir::Program& program) {
    Result<Plan> plan = bench.try_plan(program, bench.snapshot());
    return plan.ok() ? Status() : plan.status();
  }
  const ir::Program without = ProgramBuilder().deploy({"server"}).build();
  Bench bench;
};

TEST_F(RememberedProtectionTest, ThePlanRefusesAndSaysHowToGoOn) {
  ASSERT_TRUE(bench.apply(workers(true)).status.ok());
  Status refused = refusal(without);
  EXPECT_EQ(refused.code(), Code::Invalid);
  EXPECT_NE(refused.text().find("worker[0] would be removed"), std::string::npos) << refused.text();
  EXPECT_NE(refused.text().find("(demo.radl:7)"), std::string::npos) << refused.text();
  EXPECT_NE(refused.text().find("prevent_destroy = 'no'"), std::string::npos) << refused.text();
  EXPECT_EQ(bench.cloud.count("node"), 3u);
}

TEST_F(RememberedProtectionTest, AppliedOnceWithoutItTheSystemMayGo) {
  ASSERT_TRUE(bench.apply(workers(true)).status.ok());
  Plan plan = bench.plan(workers(false));
  EXPECT_EQ(marks(plan), std::vector<std::string>());
  EXPECT_TRUE(plan.changes_anything()) << "what the state remembers is a change that an apply makes";
  ASSERT_TRUE(bench.apply(workers(false)).status.ok());
  EXPECT_TRUE(bench.apply(without).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 1u);
}

TEST_F(RememberedProtectionTest, ItIsRememberedOfMachinesThatAreThereAlready) {
  ASSERT_TRUE(bench.apply(workers(false)).status.ok());
  ASSERT_TRUE(bench.apply(workers(true)).status.ok());
  EXPECT_FALSE(bench.plan(workers(true)).changes_anything());
  EXPECT_EQ(refusal(without).code(), Code::Invalid);
}

// A change whose answer was lost, and which a refresh finds done: nothing is to do but to know it.
TEST(AsFound, WhatARefreshFindsAsTheFileSaysIsRecorded) {
  Bench bench;
  auto workers = [](double memory) {
    Machine machine{"worker"};
    machine.memory = memory;
    return ProgramBuilder().deploy(machine).build();
  };
  ASSERT_TRUE(bench.apply(workers(2e9)).status.ok());
  const ir::Program larger = workers(4e9);
  Plan blind = bench.plan(larger);
  ASSERT_NE(blind.find("worker[0]"), nullptr);
  Observed observed;
  observed.specs["worker[0]"] = blind.find("worker[0]")->spec;
  Plan plan = bench.plan(larger, &observed);
  EXPECT_EQ(marks(plan), std::vector<std::string>());
  EXPECT_TRUE(plan.changes_anything());
  ASSERT_TRUE(bench.apply(larger, &observed).status.ok());
  EXPECT_FALSE(bench.plan(larger).changes_anything()) << render_text(bench.plan(larger));
}

}  // namespace
}  // namespace radl::test
