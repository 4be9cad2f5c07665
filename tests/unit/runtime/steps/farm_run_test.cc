// Runs of a farm on two real nodes of this computer that begin with a journal, or with requests.
#include "runtime/steps/farm/farm_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/farm/journal.h"
#include "runtime/farm/settings.h"
#include "runtime/steps/farm/farm_parts.h"
#include "runtime/steps/farm/inbox.h"
#include "runtime/steps/jobs/network.h"
#include "tests/support/program_bench.h"

namespace radl::farm {
namespace {

using std::chrono::steady_clock;

struct FarmRunTest : test::ProgramBench {
  FarmRunTest() { step.program["main"] = "sh"; }
  std::string folder() {
    const std::string path = farms_folder(nodes.context.work_directory) + "/" + jobs::folder_of(step);
    EXPECT_TRUE(make_directories(path + kInboxFolder).ok());
    return path;
  }
  std::string kept() {
    auto text = read_file(folder() + kJournalFile);
    return text.ok() ? *text : "";
  }
};

TEST_F(FarmRunTest, ATrialWhoseNameIsTakenEndsTheSearch) {
  step.program["farm"] = Json{{"search", {{"trials", 2}, {"space", {{"x", {1, 2}}}}}}}.dump();
  const Event taken = add_event({"trial-0", {1, 0, 0, 0}, 0, {{"command", "true"}, {"added", true}}}, 0);
  ASSERT_TRUE(put_in_inbox(folder() + kInboxFolder, taken, "1").ok());
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Invalid) << outcome.status().text();
  EXPECT_NE(outcome.status().message().find("trial-0"), std::string::npos) << outcome.status().text();
}

TEST_F(FarmRunTest, ANodeThatIsNotConnectedPausesNoFarm) {
  const Json needs = {{"cpu", 0.6 * std::max(1.0, std::thread::hardware_concurrency() / 2.0)}};
  const double now = wall_seconds();
  const std::string go = nodes.folder.path("go");
  auto journal = std::make_unique<Journal>();
  ASSERT_TRUE(journal->open(folder() + kJournalFile, [](const Event&) { return Status(); }).ok());
  for (const NodeHandle& node : handles) journal->add(node_event(node.address, {1000, 0, 0, 0}, now - 4000));
  Json tasks = Json::array();
  for (int i = 0; i < 7; ++i) {
    const std::string name = "t" + std::to_string(i);
    tasks.push_back({{"name", name}, {"command", "while [ ! -e " + go + " ]; do sleep 0.05; done"}});
    journal->add(add_event({name, needs_from(needs), 0, {{"command", tasks[i]["command"]}}}, now - 4000));
    if (i > 2) continue;
    journal->add(start_event(name, 1, handles[0].address, now - 1000));
    journal->add(end_event(name, 1, End::Succeeded, 0, "", now));
    journal->add(commit_event(name, 1, now, false));
  }
  // Four tasks of 1000 seconds take 2000 on both nodes, and 4000 on one.
  journal->add(approve_event({{"seconds", {{"value", 2000}, {"low", 1500}, {"high", 3000}}}}, now));
  ASSERT_TRUE(journal->flush().ok());
  journal.reset();
  step.program["farm"] = Json{{"needs", needs}, {"tasks", tasks}}.dump();

  const auto began = [&] { return kept().find("\"event\":\"began\"") != std::string::npos; };
  handles[1].connect = [&, before = handles[1].connect]() -> Result<Remote*> {
    if (began()) return Status(Code::Lost, "not now");
    return before();
  };
  std::optional<steady_clock::time_point> until;  // more than one forecast later
  context.lets_go = [&] {
    if (!until &&
        kept().find("\"event\":\"start\",\"node\":\"worker[0]\",\"task\":\"t3\"") != std::string::npos)
      until = steady_clock::now() + std::chrono::seconds(5);
    return until && steady_clock::now() > *until;
  };
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), kLeftRunning) << outcome.status().text();
  EXPECT_EQ(kept().find("\"event\":\"pause\""), std::string::npos) << kept();
  ASSERT_TRUE(write_file_atomic(go, "").ok());
  EXPECT_EQ(left(), 0u);
}

}  // namespace
}  // namespace radl::farm
