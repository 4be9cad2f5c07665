// Whole runs on the CIFAR-10 subset of the repository: what they reach, leave, and how they go on.
#include "tests/unit/engine/train/train_case.h"

#include "engine/cluster/link.h"
#include "tests/support/wait_until.h"

namespace radl::engine {
namespace {

TEST_F(TrainTest, LearnsAndLeavesEverythingThatTheJobNames) {
  Result<RunSummary> run = run_job(job("a"), {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GT(run->test_accuracy, 0.27) << "of ten classes, by a linear model on 2,000 images";
  EXPECT_EQ(run->steps, 240u);
  for (const char* file :
       {"model.safetensors", "model.onnx", "model.txt", "model.json", "metrics.json", "report.json"}) {
    EXPECT_TRUE(fs::exists(folder_ + "/a/model/" + file)) << file;
  }
  EXPECT_EQ(lines("a", "evaluated").size(), 6u);
  EXPECT_EQ(lines("a", "finished").size(), 1u);
  EXPECT_FALSE(fs::is_empty(folder_ + "/a/events"));
  nlohmann::json report = nlohmann::json::parse(*read_file(folder_ + "/a/model/report.json"));
  EXPECT_EQ(report["curve"].size(), 6u);
  uint64_t images = 0;
  for (const auto& row : report["confusion"]) {
    for (uint64_t n : row) images += n;
  }
  EXPECT_EQ(images, 500u);
}

TEST_F(TrainTest, TheSameSeedGivesTheSameBits) {
  ASSERT_TRUE(run_job(job("a"), {}).ok());
  ASSERT_TRUE(run_job(job("b"), {}).ok());
  EXPECT_EQ(weights("a"), weights("b"));
  Job other = job("c");
  other.seed = 2;
  ASSERT_TRUE(run_job(other, {}).ok());
  EXPECT_NE(weights("a"), weights("c"));
}

TEST_F(TrainTest, AnInterruptedRunGoesOnBitIdentically) {
  ASSERT_TRUE(run_job(job("whole"), {}).ok());
  EXPECT_EQ(interrupted_run(job("halves"), 80).code(), Code::Cancelled);
  EXPECT_EQ(exit_code(Status(Code::Cancelled, "")), 130);
  EXPECT_FALSE(fs::exists(folder_ + "/halves/model"));
  Job rest = job("halves");
  rest.resume = Resume::Require;
  Result<RunSummary> run = run_job(rest, {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GE(run->resumed_from, 80u);
  EXPECT_EQ(weights("halves"), weights("whole"));
  nlohmann::json report = nlohmann::json::parse(*read_file(folder_ + "/halves/model/report.json"));
  EXPECT_EQ(report["curve"].size(), 6u) << "the report tells of both runs";
  EXPECT_EQ(report["runs"], 2);
}

TEST_F(TrainTest, ACheckpointOfAnotherJobIsRefused) {
  ASSERT_EQ(interrupted_run(job("a"), 40).code(), Code::Cancelled);
  Job other = job("a");
  other.schedule.peak = 0.02;
  Status s = run_job(other, {}).status();
  EXPECT_EQ(s.code(), Code::Invalid);
  EXPECT_NE(s.message().find("other settings: schedule.peak (0.01, now 0.02);"), std::string::npos)
      << s.message();
  other.resume = Resume::Never;
  EXPECT_TRUE(run_job(other, {}).ok());
  Job none = job("none");
  none.resume = Resume::Require;
  EXPECT_EQ(run_job(none, {}).status().code(), Code::NotFound);
}

// Members, machines, outputs and the number of epochs may change; how a step is computed may not.
TEST_F(TrainTest, MoreEpochsGoOnAndFewerAreRefused) {
  Job j = job("a");
  j.epochs = 2;
  ASSERT_TRUE(run_job(j, {}).ok());
  j.epochs = 4;
  j.dataset.test = 300;
  j.evaluate.every_epochs = 2;
  j.directories.model = folder_ + "/elsewhere";
  j.threads = 2;
  j.resume = Resume::Require;
  Result<RunSummary> more = run_job(j, {});
  ASSERT_TRUE(more.ok()) << more.status().text();
  EXPECT_EQ(more->resumed_from, 80u);
  EXPECT_EQ(more->steps, 160u);
  EXPECT_TRUE(fs::exists(folder_ + "/elsewhere/model.safetensors"));
  j.epochs = 1;
  Status fewer = run_job(j, {}).status();
  EXPECT_EQ(fewer.code(), Code::Invalid);
  EXPECT_NE(fewer.message().find("is at epoch 4, beyond the 1 of this job"), std::string::npos)
      << fewer.message();
}

TEST_F(TrainTest, WithNothingLeftToTrainItEvaluatesAgain) {
  Result<RunSummary> first = run_job(job("a"), {});
  ASSERT_TRUE(first.ok());
  Job again = job("a");
  again.dataset.test = 200;
  Result<RunSummary> second = run_job(again, {});
  ASSERT_TRUE(second.ok()) << second.status().text();
  EXPECT_EQ(second->resumed_from, 240u);
  EXPECT_EQ(second->train_loss, first->train_loss);
  nlohmann::json report = nlohmann::json::parse(*read_file(folder_ + "/a/model/report.json"));
  EXPECT_EQ(report["curve"].size(), 6u);
  EXPECT_EQ(report["metrics"]["test_images"], 200);
}

TEST_F(TrainTest, CheckpointsThatWouldCostTooMuchWait) {
  Job j = job("a");
  j.checkpoint.every_epochs = 0.1;
  j.checkpoint.share = 1e-9;
  Result<RunSummary> summary = run_job(j, {});
  ASSERT_TRUE(summary.ok()) << summary.status().text();
  const auto written = lines("a", "checkpoint");
  ASSERT_EQ(written.size(), 2u) << "the first, whose cost nobody knows yet, and the end";
  EXPECT_EQ(written[1]["step"], summary->steps);
  Job unlimited = job("b");
  unlimited.checkpoint.every_epochs = 0.5;
  unlimited.checkpoint.share = 0;
  ASSERT_TRUE(run_job(unlimited, {}).ok());
  EXPECT_EQ(lines("b", "checkpoint").size(), size_t(2 * unlimited.epochs));
}

TEST_F(TrainTest, DivergenceStopsTheRunAndKeepsTheLastCheckpoint) {
  Job j = job("a");
  j.schedule.peak = 1000;
  j.schedule.warmup = 0.9;
  j.optimizer.weight_decay = 1;
  j.checkpoint.every_epochs = 0.05;
  Status s = run_job(j, {}).status();
  EXPECT_EQ(s.code(), Code::Invalid) << s.text();
  EXPECT_NE(s.message().find("diverged"), std::string::npos) << s.message();
  EXPECT_EQ(exit_code(s), 1);
  EXPECT_FALSE(fs::exists(folder_ + "/a/model"));
  EXPECT_FALSE(fs::is_empty(folder_ + "/a/checkpoint"));
  EXPECT_EQ(lines("a", "failed").at(0)["code"], code_name(Code::Invalid));
}

TEST_F(TrainTest, WrongDataAndSizesAreSaid) {
  Job j = job("a");
  j.dataset.directory = folder_ + "/nothing";
  EXPECT_EQ(exit_code(run_job(j, {}).status()), 1);
  j = job("a");
  j.batch_size = 5000;
  EXPECT_EQ(run_job(j, {}).status().message(), "batch_size: 5000 is more than the 2000 training images");
  j = job("a");
  j.model = "resnet-21";
  EXPECT_NE(run_job(j, {}).status().text().find("resnet20"), std::string::npos);
}

TEST_F(ClusterTest, EveryModeLearns) {
  for (SyncMode mode : {SyncMode::Async, SyncMode::Sync, SyncMode::Stale}) {
    std::string name(sync_mode_name(mode));
    Result<RunSummary> run = run_all(cluster_job(name, mode, 2, 2));
    ASSERT_TRUE(run.ok()) << run.status().text();
    EXPECT_GT(run->test_accuracy, 0.25) << name;
    EXPECT_EQ(run->steps, 240u);
    EXPECT_TRUE(fs::exists(folder_ + "/" + name + "/model/model.safetensors"));
    EXPECT_EQ(lines(name, "peer_joined").size(), 2u);
    EXPECT_EQ(lines(name, "peer_lost").size(), 0u);
  }
}

TEST_F(ClusterTest, SyncGivesTheSameBitsAlsoAfterAResumption) {
  ASSERT_TRUE(run_all(cluster_job("a", SyncMode::Sync, 1, 2)).ok());
  StopSource stop;
  RunHooks hooks;
  hooks.stop = stop.token();
  hooks.progress = [&](std::string_view line) {
    if (line.find("\"evaluated\"") != std::string_view::npos) stop.request();
  };
  EXPECT_EQ(run_all(cluster_job("b", SyncMode::Sync, 1, 2), hooks).status().code(), Code::Cancelled);
  ASSERT_TRUE(run_all(cluster_job("b", SyncMode::Sync, 1, 2)).ok());
  EXPECT_EQ(weights("a"), weights("b"));
}

// Its first round waits for another worker, which does not come.
TEST_F(ClusterTest, AWorkerSaysThatItStartedBeforeItHasABatch) {
  Job j = cluster_job("a", SyncMode::Sync, 1, 2);
  j.peer_timeout_seconds = 120;
  StopSource stop;
  RunHooks hooks, watched;
  hooks.stop = watched.stop = stop.token();
  std::atomic<bool> started = false;
  watched.progress = [&](std::string_view line) {
    if (line.find("\"started\"") != std::string_view::npos) started = true;
  };
  auto server = std::async(std::launch::async, [&] { return run_job(member(j, "ps", 0), hooks).status(); });
  auto worker =
      std::async(std::launch::async, [&] { return run_job(member(j, "worker", 0), watched).status(); });
  EXPECT_TRUE(test::wait_until([&] { return started.load(); }));
  stop.request();
  EXPECT_EQ(worker.get().code(), Code::Cancelled);
  EXPECT_EQ(server.get().code(), Code::Cancelled);
}

TEST_F(ClusterTest, AWorkerWithAnotherJobIsRefused) {
  Job j = cluster_job("a", SyncMode::Async, 1, 1);
  auto server = std::async(std::launch::async, [&] { return run_job(member(j, "ps", 0), {}); });
  Job other = j;
  other.seed = 99;
  Status s = run_job(member(other, "worker", 0), {}).status();
  EXPECT_EQ(s.code(), Code::Invalid) << s.text();
  EXPECT_TRUE(run_job(member(j, "worker", 0), {}).ok());
  EXPECT_TRUE(server.get().ok());
}

TEST_F(ClusterTest, ADivergingClusterStopsEverywhere) {
  Job j = cluster_job("a", SyncMode::Async, 1, 2);
  j.schedule.peak = 1000;
  j.schedule.warmup = 0.9;
  j.optimizer.weight_decay = 1;
  Status s = run_all(j).status();
  EXPECT_EQ(s.code(), Code::Invalid);
  EXPECT_NE(s.message().find("diverged"), std::string::npos) << s.message();
}

TEST_F(ClusterTest, APortInUseIsNamed) {
  auto taken = cluster::listen_tcp("127.0.0.1:0", std::string(32, 'k'), {});
  Job j = cluster_job("a", SyncMode::Async, 1, 1);
  j.cluster.ps = {(*taken)->address()};
  Status s = run_job(member(j, "ps", 0), {}).status();
  EXPECT_EQ(s.message(), "cannot listen at " + (*taken)->address() + ": the address is in use");
  EXPECT_EQ(exit_code(s), 2);
}

}  // namespace
}  // namespace radl::engine
