// What a plan forecasts of a farm whose journal is there already.
#include "runtime/driver/farm_facts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/files.h"
#include "runtime/farm/journal.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/jobs/network.h"
#include "tests/support/temporary_folder.h"

namespace radl::driver {
namespace {

constexpr double kEpoch = 1.8e9;  // journals have seconds since 1970

struct FarmForecast : testing::Test {
  FarmForecast() {
    for (const char* address : {"worker[0]", "worker[1]"}) {
      ir::Node node;
      node.address = address;
      program.nodes.push_back(node);
      step.nodes.push_back(address);
    }
    step.id = "program/p";
    step.kind = ir::StepKind::Program;
    step.program = ir::Json{{"name", "p"}};
  }
  void see(const farm::Event& event) {
    ASSERT_TRUE(table.apply(event).ok()) << event;
    events.push_back(event);
  }
  // An attempt of ten seconds; `until`: how many of its three events there are.
  void ran(const std::string& task, int until = 3) {
    see(farm::start_event(task, 1, "worker[0]", kEpoch));
    if (until > 1) see(farm::end_event(task, 1, farm::End::Succeeded, 0, "", kEpoch + 10));
    if (until > 2) see(farm::commit_event(task, 1, kEpoch + 11));
  }
  void trial(const std::string& name) {
    see(farm::add_event({name, {1000, 0, 0, 0}, 0, {{"parameters", {{"x", 0.5}}}}}, kEpoch));
    ran(name);
  }
  foresight::ProgramForecast forecast(const Json& settings) {
    step.program["farm"] = settings.dump();
    const std::string place = farm::farms_folder(folder.path()) + "/" + jobs::folder_of(step);
    EXPECT_TRUE(make_directories(place).ok());
    std::filesystem::remove(place + farm::kJournalFile);
    farm::Journal journal;
    EXPECT_TRUE(journal.open(place + farm::kJournalFile, [](const farm::Event&) { return Status(); }).ok());
    for (const farm::Event& event : events) journal.add(event);
    EXPECT_TRUE(journal.flush().ok());
    return farm_forecast(program, step, folder.path()).program;
  }

  test::TemporaryFolder folder;
  ir::Program program;
  ir::Step step;
  farm::Table table;
  std::vector<farm::Event> events;
};

TEST_F(FarmForecast, AnOutputThatIsStillToBeBroughtTakesNoTime) {
  Json tasks = Json::array();
  for (const char* name : {"a", "b", "c", "d", "e"}) tasks.push_back({{"name", name}, {"command", "x"}});
  see(farm::node_event("worker[0]", {4000, 0, 0, 0}, kEpoch));
  for (const Json& task : tasks)
    see(farm::add_event({task["name"], {1000, 0, 0, 0}, 0, {{"command", "x"}}}, kEpoch));
  for (const char* name : {"a", "b", "c"}) ran(name);
  ran("d", 2);
  const foresight::ProgramForecast made = forecast({{"tasks", tasks}});
  ASSERT_TRUE(made.run.known()) << made.unknown;
  EXPECT_DOUBLE_EQ(made.run.value, 10) << "of e alone";
}

TEST_F(FarmForecast, AnOutputWhoseNodeIsGoneIsMadeAgain) {
  step.nodes = {"worker[1]"};
  see(farm::node_event("worker[0]", {4000, 0, 0, 0}, kEpoch));
  Json tasks = Json::array();
  for (const char* name : {"a", "b"}) {
    tasks.push_back({{"name", name}, {"command", "x"}, {"seconds", 10}});
    see(farm::add_event({name, {1000, 0, 0, 0}, 10, {{"command", "x"}}}, kEpoch));
    ran(name, 2);
  }
  const foresight::ProgramForecast made = forecast({{"tasks", tasks}});
  ASSERT_TRUE(made.run.known()) << made.unknown;
  EXPECT_DOUBLE_EQ(made.run.value, 20);
}

TEST_F(FarmForecast, TrialsThatWereAddedAreLeft) {
  see(farm::farm_event({{"trials", 4}}, kEpoch));
  see(farm::node_event("worker[0]", {4000, 0, 0, 0}, kEpoch));
  for (const char* name : {"trial-0", "trial-1", "trial-2", "trial-3"}) trial(name);
  const Json search = {{"search", {{"trials", 4}, {"space", {{"x", {{"min", 0}, {"max", 1}}}}}}}};
  see(farm::trials_event(6, kEpoch));
  const foresight::ProgramForecast made = forecast(search);
  ASSERT_TRUE(made.run.known()) << made.unknown;
  EXPECT_DOUBLE_EQ(made.run.value, 30) << "six, on two nodes of one processor";
}

TEST_F(FarmForecast, BandsAreLearntFromFourRunsOfTheFarm) {
  see(farm::node_event("worker[0]", {4000, 0, 0, 0}, kEpoch));
  for (const char* name : {"a", "b", "c"}) {
    see(farm::add_event({name, {1000, 0, 0, 0}, 10, {{"command", "x"}}}, kEpoch));
    ran(name);
  }
  double at = kEpoch;
  const auto run = [&] {  // each took twice as long as its plan said
    see(farm::approve_event({{"seconds", {{"value", 50}}}}, at += 1000));
    see(farm::began_event(at, 2));
    see(farm::closed_event(at + 100));
  };
  Json tasks = Json::array();
  for (const char* name : {"a", "b", "c", "d"})
    tasks.push_back({{"name", name}, {"command", "x"}, {"seconds", 10}});
  for (int i = 0; i < 3; ++i) run();
  foresight::ProgramForecast made = forecast({{"tasks", tasks}});
  EXPECT_EQ(made.run.band_runs, 0u) << "a prior";
  EXPECT_LT(made.run.high, 1.5 * made.run.value);
  run();
  made = forecast({{"tasks", tasks}});
  EXPECT_EQ(made.run.band_runs, 4u);
  EXPECT_NEAR(made.run.high, 2 * made.run.value, 1e-6 * made.run.value);
}

TEST_F(FarmForecast, OfASearchThatIsOverNothingIsLeft) {
  see(farm::node_event("worker[0]", {4000, 0, 0, 0}, kEpoch));
  for (const char* name : {"trial-0", "trial-1", "trial-2"}) trial(name);
  const foresight::ProgramForecast made =
      forecast({{"search", {{"trials", 16}, {"strategy", "grid"}, {"space", {{"x", {1, 2, 3}}}}}}});
  ASSERT_TRUE(made.run.known()) << made.unknown;
  EXPECT_DOUBLE_EQ(made.run.high, 0) << "a grid has no more values";
}

}  // namespace
}  // namespace radl::driver
