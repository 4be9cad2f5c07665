// The event stream tells all that happens, once, in order, without secrets.
#include "runtime/exec/events.h"

#include <gtest/gtest.h>

#include <sstream>

#include "runtime/exec/progress.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

class Collector : public EventSink {
 public:
  std::vector<Event> events;
  void emit(const Event& event) override { events.push_back(event); }
  std::vector<std::string> of(const std::string& id) const {
    std::vector<std::string> names;
    for (const Event& event : events) {
      if (event.id == id) names.emplace_back(event_kind_name(event.kind));
    }
    return names;
  }
};

class EventsTest : public testing::Test {
 protected:
  EventsTest() {
    bench.secrets = {{"input.pw", "hunter2"}};
    bench.sinks = {&collector};
    program = ProgramBuilder()
                  .deploy({"server"})
                  .deploy({"worker"})
                  .file("worker", "app", "/a", "1")
                  .train("server", "worker")
                  .build();
  }
  Bench bench;
  Collector collector;
  ir::Program program;
};

TEST_F(EventsTest, FollowANodeAndAStepFromStartToEnd) {
  bench.runner.errors["worker[0]/app"] = {Status(Code::Lost, "connection lost")};
  ASSERT_TRUE(bench.apply(program).status.ok());
  using Names = std::vector<std::string>;
  EXPECT_EQ(collector.of("worker[0]"),
            (Names{"action_started", "node_phase", "node_phase", "node_phase", "action_finished"}));
  EXPECT_EQ(collector.of("worker[0]/app"), (Names{"action_started", "action_retry", "action_finished"}));
  EXPECT_EQ(collector.events.front().kind, EventKind::RunStarted);
  EXPECT_EQ(collector.events.back().kind, EventKind::RunFinished);
  EXPECT_EQ(collector.events.back().data["ok"], true);
}

TEST_F(EventsTest, HoldNoSecret) {
  bench.runner.during = [](const StepContext& context, const ir::Step& step) {
    context.emit({step.id, "worker[0]", "output", "the password is hunter2"});
    context.emit({step.id, "worker[0]", "task", Json{{"name", "set hunter2"}}});
    context.context->log("log hunter2");
  };
  bench.runner.errors["worker[0]/app"] = {Status(Code::Invalid, "cannot use hunter2")};
  RunReport report = bench.apply(program);
  EXPECT_EQ(report.status.message(), "worker[0]/app: cannot use (sensitive)");
  for (const Event& event : collector.events)
    EXPECT_EQ(to_json(event).dump().find("hunter2"), std::string::npos);
  EXPECT_EQ(bench.snapshot().steps.at("worker[0]/app").error, "cannot use (sensitive)");
}

TEST_F(EventsTest, GoToAFileALineEach) {
  std::string path = bench.folder.path() + "/events.jsonl";
  {
    auto sink = std::move(*JsonLinesSink::open(path));
    bench.sinks = {sink.get(), &collector};
    ASSERT_TRUE(bench.apply(program).status.ok());
    EXPECT_TRUE(sink->status().ok());
  }
  std::istringstream lines(*read_file(path));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    Json json = Json::parse(line);
    EXPECT_EQ(json["event"], event_kind_name(collector.events.at(count).kind));
    EXPECT_GT(json["time"], 1e9);
  }
  EXPECT_EQ(count, collector.events.size());
}

TEST_F(EventsTest, TheProgressModelFollows) {
  Plan plan = bench.plan(program);
  Progress progress(plan);
  EXPECT_EQ(progress.count(ItemProgress::State::Waiting), plan.actions.size());
  bench.sinks = {&progress};
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    if (step.kind != ir::StepKind::Training) return;
    auto metric = [&](Json data) { context.emit({step.id, "server[0]", "metric", std::move(data)}); };
    metric({{"event", "step"},
            {"task", "worker/0"},
            {"epoch", 2.5},
            {"epochs", 10},
            {"loss", 1.5},
            {"images_per_second", 100}});
    metric({{"event", "step"},
            {"task", "worker/1"},
            {"epoch", 2.0},
            {"epochs", 10},
            {"loss", 1.4},
            {"images_per_second", 50}});
    metric({{"event", "step"},
            {"task", "chief/0"},
            {"epoch", 2.5},
            {"epochs", 10},
            {"loss", 1.45},
            {"images_per_second", 150}});
    metric({{"event", "evaluated"}, {"task", "chief/0"}, {"test_accuracy", 0.6}});
    metric({{"event", "peer_lost"}, {"task", "chief/0"}, {"peer", "worker/1"}});
    const TrainingProgress& training = progress.trainings().at("training/cifar");
    EXPECT_EQ(training.images_per_second, 150);
    EXPECT_EQ(training.rate_of_task.size(), 1u) << "the lost worker has no speed";
    EXPECT_EQ(training.epoch, 2.5);
    EXPECT_EQ(training.test_accuracy, 0.6);
    EXPECT_EQ(training.lost_peers, std::vector<std::string>{"worker/1"});
    EXPECT_LT(progress.fraction(), 1);
  };
  ASSERT_TRUE(bench.apply(program).status.ok());
  EXPECT_EQ(progress.count(ItemProgress::State::Done), plan.actions.size());
  EXPECT_DOUBLE_EQ(progress.fraction(), 1);
}

TEST_F(EventsTest, TheProgressModelKnowsWhatMembersUseAndWroteLast) {
  Progress progress(bench.plan(program));
  Event event;
  event.kind = EventKind::Metric;
  event.id = "training/cifar";
  event.node = "server[0]";
  event.data = {{"event", "member"}, {"processors", 1.5}, {"memory_bytes", 4096}, {"sent", 10}, {"gpu", 0.5}};
  progress.emit(event);
  Event line;
  line.kind = EventKind::Output;
  line.id = event.id;
  line.node = event.node;
  line.data = {{"line", "epoch 3"}};
  progress.emit(line);
  const MemberProgress& member = progress.members("training/cifar").at("server[0]");
  EXPECT_EQ(member.processors, 1.5);
  EXPECT_EQ(member.memory_bytes, 4096);
  EXPECT_EQ(member.gpu, 0.5);
  EXPECT_EQ(member.line, "epoch 3");
  EXPECT_TRUE(progress.members("program/other").empty());
  EXPECT_TRUE(progress.trainings().empty()) << "these are no figures of a training";
}

}  // namespace
}  // namespace radl::test
