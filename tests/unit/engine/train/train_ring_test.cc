// Mode "allreduce": as one worker with the joint batch, the same bits again, and no server.
#include "tests/unit/engine/train/ring_case.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "engine/cluster/link.h"
#include "engine/train/choose_sync.h"

namespace radl::engine {
namespace {

// 2 workers with 25 images each, and one process with 50: the same images in the same updates.
TEST_F(RingTrainTest, IsAsOneWorkerWithTheJointBatch) {
  Job j = ring_job("ring", 2);
  j.batch_size = 25;
  Result<RunSummary> ring = run_ring(j);
  ASSERT_TRUE(ring.ok()) << ring.status().text();
  Job alone = job("alone");
  alone.epochs = 3;
  Result<RunSummary> one = run_job(alone, {});
  ASSERT_TRUE(one.ok());
  std::vector<float> a = numbers("ring"), b = numbers("alone");
  ASSERT_EQ(a.size(), b.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-5) << "relative 2-norm of the difference";
  EXPECT_GT(size, 0);
  EXPECT_NEAR(ring->test_loss, one->test_loss, 1e-4);
  EXPECT_EQ(ring->steps, 240u);
}

TEST_F(RingTrainTest, GivesTheSameBitsAlsoAfterAResumption) {
  Job first = ring_job("a", 3);
  ASSERT_TRUE(run_ring(first).ok());
  StopSource stop;
  RunHooks hooks;
  hooks.stop = stop.token();
  hooks.progress = [&](std::string_view line) {
    if (line.find("\"evaluated\"") != std::string_view::npos) stop.request();
  };
  EXPECT_EQ(run_ring(ring_job("b", 3), hooks).status().code(), Code::Cancelled);
  Job rest = ring_job("b", 3);
  rest.resume = Resume::Require;
  Result<RunSummary> run = run_ring(rest);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GT(run->resumed_from, 0u);
  EXPECT_EQ(weights("a"), weights("b"));
}

// The sums have the same bits, whenever they begin.
TEST_F(RingTrainTest, OverlapChangesNoBits) {
  for (const bool overlap : {true, false}) {
    Job j = ring_job(overlap ? "overlap" : "after", 3);
    j.model = "lenet";
    j.epochs = 1;
    j.sync.overlap = overlap;
    const Result<RunSummary> run = run_ring(j);
    ASSERT_TRUE(run.ok()) << run.status().text();
  }
  EXPECT_EQ(weights("overlap"), weights("after"));
}

TEST_F(RingTrainTest, LocalStepsLearnAndGoOnBitIdentically) {
  auto with_steps = [&](const std::string& name) {
    Job j = ring_job(name, 2);
    j.sync.local_steps = 7;  // does not divide the run
    j.sync.gradients = Encoding::Bf16;
    j.average = {"ema", 0.9, 0};
    return j;
  };
  Result<RunSummary> whole = run_ring(with_steps("a"));
  ASSERT_TRUE(whole.ok()) << whole.status().text();
  EXPECT_GT(whole->test_accuracy, 0.22);
  EXPECT_EQ(whole->steps, 120u);
  StopSource stop;
  RunHooks hooks;
  hooks.stop = stop.token();
  hooks.progress = [&](std::string_view line) {
    if (line.find("\"evaluated\"") != std::string_view::npos) stop.request();
  };
  EXPECT_EQ(run_ring(with_steps("b"), hooks).status().code(), Code::Cancelled);
  ASSERT_TRUE(run_ring(with_steps("b")).ok());
  EXPECT_EQ(weights("a"), weights("b"));
}

Job delayed(Job j) {
  j.sync.local_steps = 7;
  j.sync.delay = 3;
  return j;
}

TEST_F(RingTrainTest, ADelayedOuterStepLearnsAndGivesTheSameBitsAgain) {
  const auto run = [&](const std::string& name) {
    const RunSummary one = test::need(run_ring(delayed(ring_job(name, 2))));
    EXPECT_EQ(one.steps, 120u);
    EXPECT_GT(one.test_accuracy, 0.22);
  };
  run("a");
  run("b");
  EXPECT_EQ(weights("a"), weights("b"));
}

TEST_F(RingTrainTest, EachPartOfAnOuterStepHasAnEffect) {
  const auto ended = [&](const std::string& name, const std::function<void(SyncSpec&)>& change) {
    Job j = delayed(ring_job(name, 2));
    j.epochs = 1;
    change(j.sync);
    test::need(run_ring(j));
    return weights(name);
  };
  const std::string plain = ended("plain", [](SyncSpec&) {});
  EXPECT_NE(ended("delay", [](SyncSpec& s) { s.delay = 2; }), plain);
  EXPECT_NE(ended("steps", [](SyncSpec& s) { s.local_steps = 8; }), plain);
  EXPECT_NE(ended("rate", [](SyncSpec& s) { s.outer_rate = 0.8; }), plain);
  EXPECT_NE(ended("momentum", [](SyncSpec& s) { s.outer_momentum = 0.6; }), plain);
  EXPECT_EQ(ended("default", [](SyncSpec& s) { s.outer_momentum = 0.2; }), plain);
}

TEST_F(RingTrainTest, ADelayedOuterStepResumesFromItsCheckpoint) {
  StopSource stop;
  RunHooks hooks;
  hooks.stop = stop.token();
  hooks.progress = [&](std::string_view line) {
    if (line.find("\"evaluated\"") != std::string_view::npos) stop.request();
  };
  const auto job = [&] {
    Job j = delayed(ring_job("a", 2));
    j.model = "conv 8 stride=4\nbatchnorm\nrelu\nglobalavgpool\nlinear classes\n";
    j.optimizer.name = "adamw";
    j.schedule.peak = 0.002;
    j.average = {"swa", 0, 0.5};
    return j;
  };
  EXPECT_EQ(run_ring(job(), hooks).status().code(), Code::Cancelled);
  Job rest = job();
  rest.resume = Resume::Require;
  Result<RunSummary> run = run_ring(rest);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GT(run->resumed_from, 0u);
  EXPECT_EQ(run->steps, 120u);
  EXPECT_LT(run->test_loss, 2.32);
}

// The checkpoint has a velocity, which a process that trains alone does not use.
TEST_F(RingTrainTest, ADelayedCheckpointResumesInOneProcess) {
  Job first = delayed(ring_job("a", 2));
  first.epochs = 1;
  ASSERT_TRUE(run_ring(first).ok());
  Job rest = delayed(job("a"));
  rest.sync.mode = SyncMode::AllReduce;
  rest.epochs = 2;
  rest.resume = Resume::Require;
  Result<RunSummary> run = run_job(rest, {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_EQ(run->resumed_from, 40u);
  EXPECT_EQ(run->steps, 80u);
}

TEST_F(RingTrainTest, AutoChoosesByWhatStepsAndExchangesTake) {
  Job j = ring_job("far", 2);
  j.sync.mode = SyncMode::Auto;
  j.epochs = 1;
  j.pace = {.fixed_seconds = 1e-6};
  j.directories = {};
  std::vector<nlohmann::json> choices;
  RunHooks hooks;
  hooks.progress = [&](std::string_view line) {
    nlohmann::json said = nlohmann::json::parse(line);
    if (said["event"] == "strategy") choices.push_back(said);
  };
  ASSERT_TRUE(run_ring(j, hooks).ok());
  ASSERT_FALSE(choices.empty());
  const nlohmann::json& first = choices[0];
  const LinkMeasure measure{.workers = 2,
                            .step_seconds = first["step_seconds"],
                            .exchange_seconds = first["exchange_seconds"],
                            .round_trip_seconds = first["round_trip_seconds"]};
  EXPECT_GT(measure.step_seconds, 0);
  EXPECT_GT(measure.exchange_seconds, 0);
  const SyncChoice choice = choose_sync({}, measure);
  EXPECT_EQ(first["choice"], choice.delayed() ? "outer_step" : "synchronous");
  EXPECT_EQ(first["local_steps"], choice.rule.steps);
  EXPECT_EQ(first["delay"], choice.rule.delay);
  EXPECT_DOUBLE_EQ(first["efficiency"], predicted_efficiency(choice, measure));
}

TEST_F(RingTrainTest, LinesSayWhatAMemberUses) {
  Job j = ring_job("a", 2);
  j.epochs = 1;
  ASSERT_TRUE(run_ring(j).ok());
  const std::vector<nlohmann::json> steps = lines("a", "step");
  ASSERT_FALSE(steps.empty());
  for (const nlohmann::json& line : steps) {
    EXPECT_GE(line["waiting_share"], 0);
    EXPECT_LE(line["waiting_share"], 1);
    EXPECT_GT(line["cores"], 0);
    EXPECT_GT(line["memory_bytes"], 1 << 20);
  }
  EXPECT_GT(steps.back()["waiting_share"].get<double>() + steps.front()["waiting_share"].get<double>(), 0);
}

TEST_F(RingTrainTest, AutoLearnsWhateverItChooses) {
  Job j = ring_job("a", 3);
  j.sync.mode = SyncMode::Auto;
  Result<RunSummary> run = run_ring(j);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_EQ(run->steps, 120u);
  EXPECT_GT(run->test_accuracy, 0.2);
}

TEST_F(RingTrainTest, AnotherNumberOfWorkersGoesOn) {
  Job j = ring_job("a", 2);
  ASSERT_TRUE(run_ring(j).ok());
  Job more = ring_job("a", 3);
  more.epochs = 4;
  more.resume = Resume::Require;
  Result<RunSummary> run = run_ring(more);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_EQ(run->resumed_from, 120u);
  EXPECT_EQ(run->steps, 160u);
}

// As behind a forwarder: a worker listens elsewhere than at its address, here at one that is taken.
TEST_F(RingTrainTest, AMemberListensWhereItsTaskSays) {
  auto taken = std::move(*cluster::listen_tcp("127.0.0.1:0", std::string(32, 'k'), {}));
  Job j = member(ring_job("a", 2), "worker", 0);
  j.task.listen = taken->address();
  const Status refused = run_job(j, {}).status();
  EXPECT_EQ(refused.code(), Code::Conflict) << refused.text();
  EXPECT_NE(refused.text().find(taken->address()), std::string::npos) << refused.text();
  j.task.listen = "nowhere";
  EXPECT_NE(check_job(j).text().find("task.listen"), std::string::npos);
}

TEST_F(RingTrainTest, ADivergingRingStopsEverywhere) {
  Job j = ring_job("a", 2);
  j.schedule.peak = 1000;
  j.schedule.warmup = 0.9;
  j.optimizer.weight_decay = 1;
  Status s = run_ring(j).status();
  EXPECT_EQ(s.code(), Code::Invalid);
  EXPECT_NE(s.message().find("diverged"), std::string::npos) << s.message();
}

// The next worker takes over at once, repeats the step, and writes the model.
TEST_F(RingTrainTest, AChiefHandsOverBeforeItsMachineIsInterrupted) {
  for (const int local_steps : {1, 4}) {
    Job j = ring_job(fmt::format("a{}", local_steps), 2);
    j.epochs = 10;
    j.sync.local_steps = local_steps;
    std::atomic<bool> notice = false;
    std::atomic<int> took_over = 0;
    RunHooks chief, other;
    chief.taken_back = &notice;
    chief.progress = [&](std::string_view line) { notice = notice || line.find("\"step\":") != line.npos; };
    other.progress = [&](std::string_view line) { took_over += line.find("\"chief\"") != line.npos; };
    auto first = std::async(std::launch::async, [&] { return run_job(member(j, "worker", 0), chief); });
    const Result<RunSummary> second = run_job(member(j, "worker", 1), other), left = first.get();
    ASSERT_TRUE(left.ok()) << left.status().text();
    EXPECT_EQ(left->model, "") << "it has not finished the run";
    ASSERT_TRUE(second.ok()) << second.status().text();
    EXPECT_EQ(took_over, 1);
    EXPECT_EQ(second->steps, 400u);
    EXPECT_FALSE(numbers(fmt::format("a{}", local_steps)).empty());
  }
}

// Workers 0 and 1 of three go on, and do its share.
TEST_F(RingTrainTest, AWorkerLeavesBeforeItsMachineIsInterrupted) {
  struct Case {
    SyncMode mode;
    int local_steps;
  };
  for (const auto [mode, local_steps] : {Case{SyncMode::AllReduce, 1}, Case{SyncMode::AllReduce, 4},
                                         Case{SyncMode::Async, 1}, Case{SyncMode::Sync, 1}}) {
    const std::string name = fmt::format("{}-{}", sync_mode_name(mode), local_steps);
    const bool servers = mode != SyncMode::AllReduce;
    Job j = servers ? cluster_job(name, mode, 1, 3) : ring_job(name, 3);
    j.epochs = 10;
    j.sync.local_steps = local_steps;
    std::atomic<bool> notice = false;
    RunHooks chief, worker;
    worker.taken_back = &notice;
    chief.progress = [&](std::string_view line) { notice = notice || line.find("\"step\":") != line.npos; };
    std::vector<std::future<Result<RunSummary>>> members;
    if (servers)
      members.push_back(
          std::async(std::launch::async, [=, this] { return run_job(member(j, "ps", 0), chief); }));
    for (int i = 0; i < 3; ++i) {
      Job own = member(j, "worker", i);
      const bool leads = !servers && i == 0;
      if (leads) own.progress = j.progress;
      members.push_back(std::async(std::launch::async,
                                   [own, hooks = leads    ? chief
                                                 : i == 2 ? worker
                                                          : RunHooks()] { return run_job(own, hooks); }));
    }
    std::vector<Result<RunSummary>> results;
    for (auto& m : members) results.push_back(m.get());
    for (const auto& r : results) EXPECT_TRUE(r.ok()) << name << ": " << r.status().text();
    ASSERT_TRUE(results[0].ok());
    EXPECT_EQ(results[0]->steps, 400u) << name;
    const auto left = lines(name, "peer_left");
    ASSERT_EQ(left.size(), 1u) << name;
    EXPECT_EQ(left[0]["peer"], "worker/2") << name;
  }
}

}  // namespace
}  // namespace radl::engine
