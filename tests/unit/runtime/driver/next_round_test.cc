// When an apply begins another round, and that it replaces nodes while jobs on other nodes run.
#include "runtime/driver/next_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/driver/driver.h"
#include "runtime/driver/elastic_farms.h"
#include "tests/support/fake_world.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

using namespace driver;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct NextRoundTest : testing::Test {
  NextRoundTest() {
    Action job;
    job.id = "program/p";
    job.verb = Verb::Run;
    job.is_step = true;
    job.step_kind = "program";
    job.nodes = {"w[0]", "w[1]"};
    Action node;
    node.id = "w[1]";
    plan.actions = {job, node};
    ir::Step step;
    step.id = job.id;
    step.kind = ir::StepKind::Program;
    step.program = ir::Json{{"retries", 1}};
    program.steps = {step};
    begin();
  }
  void begin() {
    next.begin(plan, program, [this] { ++attention; });
  }
  void metric(const std::string& node, Json data) {
    Event event;
    event.kind = EventKind::Metric;
    event.node = node;
    event.data = std::move(data);
    next.emit(event);
  }
  void failed(const std::string& id, Code code) {
    Event event;
    event.kind = EventKind::ActionFailed;
    event.id = id;
    event.data = {{"code", code_name(code)}};
    next.emit(event);
  }

  FakeWorld fake;
  Plan plan;
  ir::Program program;
  NextRound next{fake.world.clock};
  int attention = 0;
};

TEST_F(NextRoundTest, APreemptedNodeIsReplacedOnceItsJobHasEnded) {
  metric("w[1]", {{"event", "interruption"}, {"time", "12:00"}});
  EXPECT_FALSE(next.is_due()) << "the job writes its checkpoints";
  failed("program/p", Code::Conflict);
  EXPECT_TRUE(next.is_due());
  EXPECT_EQ(next.lost().at("w[1]"), "12:00");
}

TEST_F(NextRoundTest, AFarmThatAsksForOtherNodesGetsThemAtOnce) {
  EXPECT_FALSE(next.is_due());
  metric("w[0]", {{"event", "resize"}, {"system", "w"}, {"nodes", {0, 2}}});
  EXPECT_TRUE(next.is_due());
  EXPECT_EQ(next.asked().at("w"), (std::vector<int>{0, 2}));
  EXPECT_TRUE(next.lost().empty());
  begin();
  EXPECT_FALSE(next.is_due());
  EXPECT_TRUE(next.asked().empty());
}

TEST_F(NextRoundTest, AJobThatHasFailedDoesNotRunAgainForOtherNodesOfAnotherJob) {
  failed("program/p", Code::Invalid);
  metric("w[0]", {{"event", "resize"}, {"system", "w"}, {"nodes", {0, 2}}});
  next.follow_scaling();
  next.follow_scaling();
  EXPECT_FALSE(next.is_due());
  EXPECT_FALSE(next.wait());
  EXPECT_EQ(next.take_news().size(), 1u) << "the user is told once";
  metric("w[1]", {{"event", "interruption"}, {"time", ""}});
  metric("w[1]", {{"event", "member_lost"}});
  EXPECT_TRUE(next.is_due());
}

TEST_F(NextRoundTest, ANodeThatAFarmHasQuarantinedIsReplaced) {
  metric("w[1]", {{"event", "faulty"}});
  EXPECT_TRUE(next.is_due());
  EXPECT_EQ(next.lost().at("w[1]"), kFaulty);
}

TEST_F(NextRoundTest, AQuarantinedNodeStaysIfAnotherJobUsesIt) {
  ir::Step other;
  other.id = "w[1]/database";
  other.nodes = {"w[1]"};
  other.resources = {{"service", "postgresql", {}, {}}};
  program.steps.push_back(other);
  const auto quarantine = [&] {
    Event event;
    event.kind = EventKind::Metric;
    event.id = "program/p";
    event.node = "w[1]";
    event.data = {{"event", "faulty"}};
    next.emit(event);
  };
  quarantine();
  EXPECT_TRUE(next.lost().empty()) << "its data would be lost";
  EXPECT_FALSE(next.is_due());
  EXPECT_EQ(next.take_news().size(), 1u);
  program.steps.back().resources.clear();
  quarantine();
  EXPECT_EQ(next.lost().count("w[1]"), 1u) << "it is set up again on the new node";
  begin();
  program.steps.back().kind = ir::StepKind::Training;
  quarantine();
  EXPECT_TRUE(next.lost().empty()) << "a training runs there";
  program.steps.front().program["elastic"] = true;
  quarantine();
  EXPECT_EQ(next.lost().count("w[1]"), 1u);
}

struct FreeTest : testing::Test {
  FreeTest() {
    ElasticFarm farm;
    farm.step.id = "program/a";
    farm.system = "a";
    farms = {farm};
    ResourceRecord node;
    node.address = "a[0]";
    node.system = "a";
    after.resources[node.address] = node;
    after.steps["program/a"].status = StepStatus::Failed;
  }
  std::set<std::string> after_round(const std::string& step, ActionOutcome::State state, Status status = {}) {
    RunReport report;
    ActionOutcome outcome;
    outcome.id = step;
    outcome.state = state;
    outcome.status = std::move(status);
    report.actions = {outcome};
    note_ended_farms(farms, report, ended);
    return systems_to_free(farms, ended, after);
  }
  using State = ActionOutcome::State;
  std::vector<ElasticFarm> farms;
  std::set<std::string> ended;
  Snapshot after;
  const std::set<std::string> freed{"a"};
};

TEST_F(FreeTest, AFarmThatHasEndedInAnEarlierRoundIsFreed) {
  EXPECT_EQ(after_round("program/a", State::Done), freed);
  EXPECT_EQ(after_round("program/other", State::Done), freed);
  EXPECT_EQ(after_round("program/a", State::Skipped), std::set<std::string>{}) << "it runs again";
}

TEST_F(FreeTest, NodesOnWhichTasksMayStillRunStay) {
  EXPECT_EQ(after_round("program/a", State::Failed, Status(Code::Lost, "no node answers")),
            std::set<std::string>{});
  EXPECT_EQ(after_round("program/a", State::Failed, Status(Code::Quota, "the disk is full")),
            std::set<std::string>{});
  EXPECT_EQ(after_round("program/a", State::Failed, invalid("1 of 8 tasks failed")), freed);
  after.steps["program/a"].status = StepStatus::Interrupted;
  EXPECT_EQ(systems_to_free(farms, ended, after), std::set<std::string>{});
}

TEST_F(NextRoundTest, AJobThatFailsOnItsOwnReplacesNothing) {
  failed("program/p", Code::Invalid);
  EXPECT_FALSE(next.wait());
  EXPECT_TRUE(next.suspects().empty());
}

TEST_F(NextRoundTest, ALostNodeIsReplacedIfItsCloudSaysThatItIsGone) {
  failed("program/p", Code::Timeout);
  EXPECT_FALSE(next.is_due());
  EXPECT_EQ(next.suspects(), (std::set<std::string>{"w[0]", "w[1]"}));
  EXPECT_GT(attention, 0);
  next.found_gone({"w[1]"});
  EXPECT_TRUE(next.is_due());
  EXPECT_EQ(next.lost(), (LostNodes{{"w[1]", std::nullopt}}));
}

TEST_F(NextRoundTest, AMemberThatIsMissedIsReplacedWhileTheOthersRun) {
  metric("w[1]", {{"event", "interruption"}, {"time", ""}});
  metric("w[1]", {{"event", "member_lost"}});
  EXPECT_TRUE(next.is_due());
}

TEST_F(NextRoundTest, AProgramWithoutRetriesIsNotStartedElsewhere) {
  program.steps[0].program["retries"] = 0;
  failed("program/p", Code::Lost);
  EXPECT_TRUE(next.suspects().empty());
}

TEST_F(NextRoundTest, LossesInARowAreWaitedForEachLonger) {
  std::vector<milliseconds> waits;
  while (true) {
    metric("w[1]", {{"event", "interruption"}, {"time", ""}});
    failed("program/p", Code::Conflict);
    const auto wait = next.wait();
    if (!wait) break;
    waits.push_back(*wait);
    fake.world.clock.sleep(*wait);
    begin();
  }
  ASSERT_GE(waits.size(), 3u);
  EXPECT_EQ(waits[0], milliseconds(0));
  for (size_t i = 2; i < waits.size(); ++i) EXPECT_GE(waits[i], waits[i - 1]);
  EXPECT_FALSE(next.take_news().empty()) << "the user is told that it is given up";
}

TEST_F(NextRoundTest, ThatANodeIsGivenUpIsSaidOnceForEachNode) {
  const auto lose = [&](const std::string& node) {
    metric(node, {{"event", "interruption"}, {"time", ""}});
    metric(node, {{"event", "member_lost"}});
  };
  for (lose("w[1]"); next.wait(); lose("w[1]")) {
    fake.world.clock.sleep(*next.wait());
    begin();
  }
  EXPECT_EQ(next.take_news().size(), 1u);
  lose("w[1]");
  failed("program/p", Code::Conflict);
  EXPECT_TRUE(next.take_news().empty());
  lose("w[0]");
  const auto news = next.take_news();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].first, "w[0]");
}

TEST_F(NextRoundTest, AMetricOfAnotherShapeIsPassedOver) {
  metric("w[1]", {{"event", 5}});
  EXPECT_FALSE(next.wait());
  metric("w[1]", {{"event", "interruption"}, {"time", 12}});
  failed("program/p", Code::Conflict);
  EXPECT_TRUE(next.is_due());
}

TEST_F(NextRoundTest, ARefusedReplacementIsRequestedAgainAFewTimes) {
  failed("w[1]", Code::Quota);
  EXPECT_FALSE(next.wait()) << "it never existed";
  metric("w[1]", {{"event", "interruption"}, {"time", ""}});
  failed("program/p", Code::Conflict);
  int refused = 0;
  for (begin(), failed("w[1]", Code::Quota); next.wait() && refused < 100; ++refused) {
    EXPECT_GE(*next.wait(), seconds(60));
    EXPECT_FALSE(next.is_due());
    fake.world.clock.sleep(*next.wait());
    EXPECT_TRUE(next.is_due());
    begin();
    failed("w[1]", Code::Quota);
  }
  EXPECT_GT(refused, 1);
  EXPECT_LT(refused, 10);
  EXPECT_FALSE(next.take_news().empty());
}

// Of two programs, `one` runs on a node that is preempted, and `other` ends only when `one` has been started
// on another machine.
constexpr const char* kTwoPrograms = R"(radl 2
network n ()
system a (net_interface.0.connection = 'n')
system b (net_interface.0.connection = 'n')
deploy a 1
deploy b 1
configure first (
  program 'one' ( systems = system.a, retries = 1, main = 'sh', arguments = ['-c', 'echo start >> FOLDER/one; [ $(wc -l < FOLDER/one) = 2 ] && exit 0; while :; do sleep 0.1; done'] )
)
configure second (
  program 'other' ( systems = system.b, main = 'sh', arguments = ['-c', 'echo start >> FOLDER/other; i=0; while [ $(wc -l < FOLDER/one) -lt 2 ]; do i=$((i+1)); [ $i -lt 3000 ] || exit 1; sleep 0.1; done'] )
)
)";

struct PreemptedTest : testing::Test {
  PreemptedTest() {
    host.folder = folder.path();
    host.world = &world;
    request.machinery.cloud = "local";
    request.project.files = {folder.path("demo.radl")};
  }
  void write(std::string text) {
    for (size_t at = 0; (at = text.find("FOLDER", at)) != text.npos;) text.replace(at, 6, folder.path());
    std::ofstream(folder.path("demo.radl")) << text;
  }
  // Until its end; returns the number of rounds.
  int apply(RunReport& report) {
    Apply apply(host, request, cancellation, [](const driver::Notice&) {});
    report.status = apply.load({});
    if (report.status.ok()) report.status = apply.begin();
    if (report.status.ok()) report.status = apply.make_plan();
    for (int rounds = 1; report.status.ok(); ++rounds) {
      ApplyRound round = apply.run_round();
      if (!round.goes_on) {
        report = std::move(round.report);
        return rounds;
      }
      report.status = apply.plan_next_round();
    }
    return 0;
  }
  void TearDown() override {
    Cancellation own;
    Destroy destroy(host, {.project = request.project, .machinery = request.machinery}, own,
                    [](const driver::Notice&) {});
    Status status = destroy.find();
    if (status.ok()) status = destroy.make_machinery();
    if (status.ok()) status = destroy.begin("");
    if (status.ok()) status = destroy.make_plan();
    if (status.ok()) status = destroy.execute().report.status;
    EXPECT_TRUE(status.ok()) << status.text();
  }
  std::unique_ptr<Store> store() {
    auto opened = Store::open(folder.path("states"), "demo", OpenMode::Write, world);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return std::move(*opened);
  }
  size_t lines(const std::string& name) {
    std::ifstream file(folder.path(name));
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  TemporaryFolder folder{TemporaryFolder::Place::Disk};
  World world{real_world().clock, real_world().files, real_world().random,
              Environment(Environment::Variables{{"HOME", folder.path("home")},
                                                 {"PATH", "/usr/bin:/bin"},
                                                 {"RADL_STATE", "states"},
                                                 {"RADL_LOCAL_ISOLATION", "off"},
                                                 {"RADL_LOCAL_NETWORK", "shared"}})};
  Host host;
  ApplyRequest request;
  Cancellation cancellation;
};

TEST_F(PreemptedTest, ANodeIsReplacedWhileAJobOnAnotherRuns) {
  RunReport report;
  const std::string text = kTwoPrograms;
  write(text.substr(0, text.find("configure first")));
  EXPECT_EQ(apply(report), 1);
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  // Its cloud preempts the node once both programs run.
  ScriptedServer notices([&](const std::string&) {
    return http_answer(200, "", lines("one") > 0 && lines("other") > 0 ? "TRUE" : "FALSE");
  });
  std::string before;
  {
    auto state = store();
    ASSERT_TRUE(state->lock("test", seconds(0)).ok());
    ResourceRecord node = state->snapshot()->resources.at("a[0]");
    before = node.id;
    node.attributes["eviction_notice"] = {
        {"url", notices.url("/preempted")}, {"says", "TRUE"}, {"action", "preempted"}, {"every_seconds", 1}};
    ASSERT_TRUE(state->put_resource(node).ok());
  }
  write(text);
  EXPECT_GE(apply(report), 2);
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(lines("one"), 2u);
  EXPECT_EQ(lines("other"), 1u) << "it ran on, and was joined";
  const Snapshot after = *store()->snapshot();
  EXPECT_NE(after.resources.at("a[0]").id, before);
  EXPECT_EQ(after.steps.at("program/other").status, StepStatus::Done);
}

// A farm, or `radlc scale`, may have removed a lost node meanwhile.
TEST_F(PreemptedTest, ALostNodeThatTheProgramHasNoMoreIsNotReplaced) {
  RunReport report;
  const std::string text = kTwoPrograms;
  write(text.substr(0, text.find("configure first")));
  ASSERT_EQ(apply(report), 1);
  request.plan.lost = {"a[7]", "b[0]"};
  Apply again(host, request, cancellation, [](const driver::Notice&) {});
  ASSERT_TRUE(again.load({}).ok());
  ASSERT_TRUE(again.begin().ok());
  const Status planned = again.make_plan();
  ASSERT_TRUE(planned.ok()) << planned.text();
  ASSERT_NE(again.plan().find("b[0]"), nullptr);
  EXPECT_EQ(again.plan().find("b[0]")->verb, Verb::Replace);
  EXPECT_EQ(again.plan().find("a[0]"), nullptr);
}

}  // namespace
}  // namespace radl::test
