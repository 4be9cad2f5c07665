// Trials of files against simulated clouds: what they find, and that they can be shown again.
#include "runtime/trial/trial.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/text.h"
#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/net/ssh/target.h"
#include "runtime/steps/native_runner.h"
#include "runtime/trial/phase.h"
#include "runtime/trial/program.h"
#include "runtime/trial/truth.h"
#include "tests/support/paths.h"
#include "tests/support/runtime_programs.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

using simulated::Faults;
using simulated::parse_faults;

Compiled compile_file(const std::string& path) {
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.module_path = {source_dir() + "/stdlib"};
  auto compiled = compile({source_dir() + "/" + path}, options, sources, diagnostics);
  EXPECT_TRUE(compiled.has_value()) << path;
  return compiled ? *compiled : Compiled();
}

const std::string kCluster = "tests/unit/runtime/trial/cluster.radl";

std::string text(const TrialReport& report) {
  std::string text;
  for (const TrialRun& failure : report.failures) {
    text += "seed " + std::to_string(failure.seed) + "\n";
    for (const Finding& finding : failure.findings)
      text += "  " + std::string(finding_name(finding.kind)) + ": " + finding.text + "\n";
  }
  return text;
}

class Trial : public testing::Test {
 protected:
  Trial() { options_.faults = *parse_faults("all"); }
  TrialReport run(const Compiled& compiled) {
    auto report = run_trials({compiled.program, compiled.secrets, catalog_, real_world()}, options_);
    EXPECT_TRUE(report.ok()) << report.status().text();
    return report.ok() ? *report : TrialReport();
  }

  Catalog catalog_;
  TrialOptions options_;
};

// ---- files ----

TEST_F(Trial, AClusterSurvivesEveryFault) {
  options_.runs = 200;
  TrialReport report = run(compile_file(kCluster));
  EXPECT_EQ(report.runs, 200u);
  EXPECT_EQ(report.failed, 0u) << text(report);
  EXPECT_GT(report.counts.interrupted, 100);
  EXPECT_GT(report.counts.failed, 100) << "the faults did nothing";
}

TEST_F(Trial, AClusterSurvivesKillsOfRealProcesses) {
  options_.runs = 60;
  options_.kill = true;
  TrialReport report = run(compile_file(kCluster));
  EXPECT_EQ(report.failed, 0u) << text(report);
  EXPECT_GT(report.counts.killed, 30);
}

TEST_F(Trial, TheExamplesSurvive) {
  options_.runs = 60;
  for (const char* path : {"examples/minimal.radl", "examples/cifar10/training.radl"}) {
    TrialReport report = run(compile_file(path));
    EXPECT_EQ(report.failed, 0u) << path << "\n" << text(report);
  }
}

// ---- real nodes ----

struct RealSite {
  RealSite() {
    parts.cloud = cloud.get();
    parts.runners = {{ir::StepKind::Native, runner.get()}};
    parts.connect = [](const Json& attributes, const Context& context) -> Result<std::unique_ptr<Remote>> {
      auto target =
          ssh::target_of(attributes, ssh::key_places(environment_of_process(), context.work_directory));
      if (!target.ok()) return std::move(target).status();
      return ssh::make_remote(*target);
    };
  }
  std::unique_ptr<Cloud> cloud = local::make_cloud({local::Isolation::Off, local::NetworkChoice::Shared, ""});
  std::unique_ptr<StepRunner> runner = make_native_runner();
  RealParts parts{.environment = environment_of_process()};
};

ir::Program one_command(const std::string& command) {
  ir::Program program = ProgramBuilder().deploy({"worker", 2}).file("worker", "tools", "~/made", "x").build();
  for (ir::Step& step : program.steps) {
    ir::Resource resource;
    resource.type = "command";
    resource.name = command;
    resource.properties = ir::Json{{"creates", "~/done"}};
    step.resources.push_back(resource);
    step.digest = sha256_hex(command);
  }
  return program;
}

TEST_F(Trial, OnRealNodesStepsReallyRun) {
  RealSite site;
  options_.real = &site.parts;
  TemporaryFolder folder;
  const std::string witness = folder.path() + "/ran";
  options_.faults = *parse_faults("boot,consistency,latency");
  ir::Program sound =
      one_command("test \"$(cat ~/made)\" = x && echo $HOME >> " + witness + " && touch ~/done");
  auto run = run_trial({sound, {}, catalog_, real_world()}, options_, 3);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_TRUE(run->findings.empty()) << run->findings[0].text;
  auto homes = read_file(witness);
  ASSERT_TRUE(homes.ok()) << "no step has run";
  for (std::string_view home : split(*homes, '\n'))
    EXPECT_TRUE(home.empty() || !std::filesystem::exists(home)) << home << " is still there";
}

TEST_F(Trial, ARecipeThatFailsOnAMachineIsFound) {
  RealSite site;
  options_.real = &site.parts;
  options_.faults = *parse_faults("none");
  ir::Program broken = one_command("exit 7");
  for (uint64_t seed = 1; seed < 20; ++seed) {
    auto run = run_trial({broken, {}, catalog_, real_world()}, options_, seed);
    ASSERT_TRUE(run.ok()) << run.status().text();
    if (run->findings.empty()) continue;  // given up before a step ran
    EXPECT_EQ(run->findings[0].kind, Finding::Kind::Stuck);
    EXPECT_NE(run->findings[0].text.find("exit status 7"), std::string::npos) << run->findings[0].text;
    return;
  }
  ADD_FAILURE() << "nothing was found";
}

TEST_F(Trial, EachFaultAloneIsSurvived) {
  Compiled small{ProgramBuilder().deploy({"worker", 3}).file("worker", "tools", "/etc/motd", "x").build(),
                 {}};
  options_.runs = 20;
  for (const simulated::FaultInfo& fault : simulated::fault_table()) {
    options_.faults = Faults();
    options_.faults.*fault.value = fault.when_on;
    TrialReport report = run(small);
    EXPECT_EQ(report.failed, 0u) << fault.name << "\n" << text(report);
  }
}

TEST_F(Trial, NodesOfTwoCloudsAreInTwoRegions) {
  Compiled both{ProgramBuilder().deploy({"worker", 2}).deploy({"store", 2}).build(), {}};
  both.program.nodes[2].cloud = both.program.nodes[3].cloud = "elsewhere";
  options_.runs = 30;
  TrialReport report = run(both);
  EXPECT_EQ(report.failed, 0u) << text(report);
  auto one = run_trial({both.program, both.secrets, catalog_, real_world()}, options_, 1);
  ASSERT_TRUE(one.ok());
  std::string events = join(one->events, "\n");
  EXPECT_NE(events.find("key.simulated:/us"), std::string::npos);
  EXPECT_NE(events.find("key.simulated:/eu"), std::string::npos);
}

// ---- shown again ----

TEST_F(Trial, TheSameSeedIsTheSameRun) {
  Compiled cluster = compile_file(kCluster);
  TrialSubject subject{cluster.program, cluster.secrets, catalog_, real_world()};
  for (bool kill : {false, true}) {
    options_.kill = kill;
    for (uint64_t seed : {5u, 6u, 7u}) {
      auto one = run_trial(subject, options_, seed), two = run_trial(subject, options_, seed);
      ASSERT_TRUE(one.ok() && two.ok());
      EXPECT_EQ(one->events, two->events) << seed;
      EXPECT_GT(one->events.size(), 10u);
    }
  }
}

TEST_F(Trial, ARunAmongManyIsTheRunAlone) {
  Compiled cluster = compile_file(kCluster);
  options_.runs = 4;
  options_.jobs = 2;
  TrialCounts together = run(cluster).counts, alone;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    auto one = run_trial({cluster.program, cluster.secrets, catalog_, real_world()}, options_, seed);
    ASSERT_TRUE(one.ok());
    alone.add(one->counts);
  }
  EXPECT_EQ(together.calls, alone.calls);
  EXPECT_EQ(together.phases, alone.phases);
  EXPECT_EQ(together.seconds, alone.seconds);
}

TEST_F(Trial, ACrashOfRadlcIsAFindingAndTheOthersGoOn) {
  Compiled small{ProgramBuilder().deploy({"worker"}).build(), {}};
  options_.runs = 6;
  options_.jobs = 2;
  // No file may become larger: whoever writes a state dies of SIGXFSZ.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  auto report = run_trials({small.program, small.secrets, catalog_, real_world()}, options_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(report.ok()) << report.status().text();
  EXPECT_EQ(report->runs, 6u);
  EXPECT_EQ(report->findings[Finding::Kind::Crashed], 6u) << text(*report);
}

TEST_F(Trial, Stops) {
  options_.runs = 1'000'000;
  options_.stop = Stop::when([] { return true; });
  TrialReport report = run(compile_file(kCluster));
  EXPECT_TRUE(report.cancelled);
  EXPECT_LT(report.runs, 1000u);
}

// ---- what is taken ----

TEST_F(Trial, WhatOnlySomeCloudsHaveIsLeftOutWithANote) {
  Compiled named{ProgramBuilder().deploy({"worker"}).build(), {}};
  named.program.nodes[0].requirements["instance_type"].equals = "m5.xlarge";
  std::vector<std::string> notes;
  auto ready = program_for_trial({named.program, named.secrets, catalog_, real_world()}, notes);
  ASSERT_TRUE(ready.ok()) << ready.status().text();
  EXPECT_EQ(ready->nodes[0].requirements.count("instance_type"), 0u);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("instance_type"), std::string::npos);
}

TEST_F(Trial, AFileThatCannotBeHadIsRefused) {
  Compiled huge{ProgramBuilder().deploy({"worker", 1, 1e15}).build(), {}};
  std::vector<std::string> notes;
  auto ready = program_for_trial({huge.program, huge.secrets, catalog_, real_world()}, notes);
  EXPECT_EQ(ready.status().code(), Code::Invalid);
  EXPECT_NE(ready.status().message().find("memory.size"), std::string::npos) << ready.status().text();
}

TEST(ChangedProgram, DiffersAndIsWhole) {
  Compiled cluster = compile_file(kCluster);
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    simulated::Draws draws(seed), again(seed);
    std::vector<std::string> changes, same;
    ir::Program changed = changed_program(cluster.program, draws, changes);
    EXPECT_FALSE(changes.empty());
    EXPECT_TRUE(ir::verify(changed).ok()) << ir::verify(changed).text();
    EXPECT_NE(ir::to_json(changed), ir::to_json(cluster.program));
    EXPECT_EQ(ir::to_json(changed), ir::to_json(changed_program(cluster.program, again, same)));
    for (const std::string& change : changes) seen.insert(change.substr(0, change.find(' ')));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"more", "another", "port", "larger", "a", "recipe", "without"}));
}

// ---- what is found ----

class Findings : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TrialWorld::make(setting_, 0);
    ASSERT_TRUE(made.ok()) << made.status().text();
    world_ = std::move(*made);
    Status applied = run({.program = &program_}).status;
    ASSERT_TRUE(applied.ok()) << applied.text();
    cloud_ = world_->all_clouds.front();
    ASSERT_EQ(cloud_->infrastructures().size(), 1u);
    context_.infrastructure = cloud_->infrastructures().front();
  }
  PhaseOutcome run(const TrialPhase& phase) { return run_phase(*world_, subject_, phase); }
  Seen machine() {
    for (const Seen& seen : cloud_->all_of(context_.infrastructure))
      if (seen.address == "worker[0]") return seen;
    return {};
  }
  Asked make_another(const std::string& address) {
    Order order;
    order.address = address;
    order.type = "key_pair";
    order.token = "made by a mistake";
    return cloud_->ask_create(context_, order);
  }
  static std::set<std::string> kinds(const std::vector<Finding>& findings) {
    std::set<std::string> kinds;
    for (const Finding& finding : findings) kinds.insert(std::string(finding_name(finding.kind)));
    return kinds;
  }
  std::set<std::string> now() { return kinds(findings_at_any_time(*world_)); }
  std::set<std::string> after_apply() { return kinds(findings_after_apply(*world_, subject_, program_, {})); }
  using Kinds = std::set<std::string>;

  TemporaryFolder folder_;
  ir::Program program_ =
      ProgramBuilder().deploy({"worker", 2}).file("worker", "tools", "/etc/motd", "x").build();
  ir::Secrets secrets_;
  Catalog catalog_;
  TrialSubject subject_{program_, secrets_, catalog_, real_world()};
  Faults faults_ = *parse_faults("foreign");
  Setting setting_{subject_, folder_.path(), 1, faults_, false, false};
  std::unique_ptr<TrialWorld> world_;
  simulated::SimulatedCloud* cloud_ = nullptr;
  Context context_{.environment = environment_of_process()};
};

TEST_F(Findings, NoneAfterAGoodLife) {
  EXPECT_EQ(now(), Kinds());
  EXPECT_EQ(after_apply(), Kinds());
  EXPECT_TRUE(run({.kind = TrialPhase::Kind::Destroy}).status.ok());
  EXPECT_EQ(now(), Kinds());
  EXPECT_EQ(kinds(findings_after_destroy(*world_)), Kinds());
}

TEST_F(Findings, ForgottenAndDoubled) {
  ASSERT_EQ(make_another("worker[0]").answer, Asked::Answer::Accepted);
  EXPECT_EQ(now(), (Kinds{"doubled", "forgotten"}));
}

TEST_F(Findings, ForgottenByTheState) {
  auto store = world_->open_store(OpenMode::Write);
  ASSERT_TRUE(store.ok() && (*store)->lock("test", std::chrono::milliseconds(0)).ok());
  ASSERT_TRUE((*store)->remove_resource("worker[0]").ok());
  EXPECT_EQ(now(), Kinds{"forgotten"});
}

TEST_F(Findings, ForgottenWithTheWholeState) {
  std::filesystem::remove_all(world_->state_directory());
  EXPECT_EQ(now(), Kinds{"forgotten"});
}

TEST_F(Findings, WhatTheJournalKnowsIsNotForgotten) {
  auto store = world_->open_store(OpenMode::Write);
  ASSERT_TRUE(store.ok() && (*store)->lock("test", std::chrono::milliseconds(0)).ok());
  Intent intent;
  intent.address = "key.second";
  intent.token = "made by a mistake";
  intent.resource.address = "key.second";
  intent.resource.cloud = cloud_->id().text();
  ASSERT_TRUE((*store)->begin(intent).ok());
  ASSERT_EQ(make_another("key.second").answer, Asked::Answer::Accepted);
  EXPECT_EQ(now(), Kinds());
  EXPECT_EQ(after_apply(), Kinds{"untrue"}) << "an apply that is done leaves nothing open";
}

TEST_F(Findings, UntrueWhereWhatWasDestroyedIsSaidToBeReady) {
  Order order;
  order.id = machine().id;
  ASSERT_EQ(cloud_->ask_destroy(context_, order).answer, Asked::Answer::Accepted);
  EXPECT_EQ(now(), Kinds{"untrue"});
}

TEST_F(Findings, WhatTheCloudTookBackIsNobodysUntruth) {
  ASSERT_TRUE(cloud_->remove(machine().id).ok());
  EXPECT_EQ(now(), Kinds());
}

TEST_F(Findings, UntrueWhereAFieldDiffers) {
  ASSERT_TRUE(cloud_->tamper(machine().id, {{"type", "s1.large"}}).ok());
  EXPECT_EQ(after_apply(), Kinds{"untrue"});
  EXPECT_EQ(kinds(findings_after_apply(*world_, subject_, program_, {machine().id})), Kinds());
}

TEST_F(Findings, UntrueWhereAStepIsSaidToHaveRun) {
  auto store = world_->open_store(OpenMode::Write);
  ASSERT_TRUE(store.ok() && (*store)->lock("test", std::chrono::milliseconds(0)).ok());
  ResourceRecord record = (*store)->snapshot()->resources.at("worker[0]");
  StepRecord step = (*store)->snapshot()->steps.at("worker[0]/tools");
  step.made_on["worker[0]"] = "i-another";
  auto begun = (*store)->begin_run(step);
  ASSERT_TRUE(begun.ok() && (*store)->finish_run(*begun, step).ok());
  EXPECT_EQ(after_apply(), Kinds{"untrue"});
}

TEST_F(Findings, UntrueWhereThePlanIsNotEmpty) {
  ir::Program more = ProgramBuilder().deploy({"worker", 3}).build();
  EXPECT_EQ(kinds(findings_after_apply(*world_, subject_, more, {})), Kinds{"untrue"});
}

TEST_F(Findings, LeftAndBilledAfterADestroy) {
  ASSERT_TRUE(run({.kind = TrialPhase::Kind::Destroy}).status.ok());
  Order order;
  order.type = "address";
  order.address = "address.worker[0]";
  order.token = "made by a mistake";
  ASSERT_EQ(cloud_->ask_create(context_, order).answer, Asked::Answer::Accepted);
  EXPECT_EQ(kinds(findings_after_destroy(*world_)), (Kinds{"left", "billed"}));
}

TEST_F(Findings, ForeignWhereSomethingOfOthersWasDestroyed) {
  auto planted = cloud_->plant(context_.infrastructure, "worker[0]", "somebody's");
  ASSERT_TRUE(planted.ok()) << planted.status().text();
  Order order;
  order.id = *planted;
  order.type = "instance";
  ASSERT_EQ(cloud_->ask_destroy(context_, order).answer, Asked::Answer::Accepted);
  EXPECT_EQ(now(), Kinds{"foreign"});
}

// ---- many machines at once ----

double seconds_until_up(int nodes) {
  TemporaryFolder folder;
  ir::Program program = ProgramBuilder().deploy({"worker", nodes}).build();
  ir::Secrets secrets;
  Catalog catalog;
  TrialSubject subject{program, secrets, catalog, real_world()};
  Setting setting{subject, folder.path(), 1, *parse_faults("boot=60,jitter=0"), false, false};
  auto world = TrialWorld::make(setting, 0);
  EXPECT_TRUE(world.ok());
  double begun = (*world)->clock.wall_seconds();
  TrialPhase phase{.program = &program};
  phase.parallelism = 10;
  EXPECT_TRUE(run_phase(**world, subject, phase).status.ok());
  return (*world)->clock.wall_seconds() - begun;
}

TEST(ManyMachines, BootTogetherWhateverTheNumberOfThreads) {
  EXPECT_GE(seconds_until_up(1), 60);
  EXPECT_LT(seconds_until_up(200), 1.2 * seconds_until_up(1));
}

// ---- the page for users ----

TEST(TestingPage, ListsEveryFaultAndFinding) {
  std::string page = *read_file(source_dir() + "/docs/testing.md");
  for (const simulated::FaultInfo& fault : simulated::fault_table()) {
    EXPECT_NE(page.find("| `" + std::string(fault.name) + "` |"), std::string::npos) << fault.name;
    EXPECT_NE(page.find("| " + std::string(fault.text) + " |"), std::string::npos) << fault.text;
  }
  for (Finding::Kind kind : kFindingKinds)
    EXPECT_NE(page.find("| `" + std::string(finding_name(kind)) + "` |"), std::string::npos);
}

}  // namespace
}  // namespace radl::test
