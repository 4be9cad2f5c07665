// Whole runs on the CIFAR-10 subset of the repository: what they reach, leave, and how they go on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "engine/dist/link.h"
#include "engine/train/run.h"

namespace radl::engine {
namespace {

namespace fs = std::filesystem;

class TrainTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("radl-train-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    ASSERT_TRUE(make_directories(folder_).ok());
  }
  void TearDown() override { fs::remove_all(folder_); }

  Job job(const std::string& name) {
    Job j;
    j.model = "logistic";
    j.dataset.directory = std::string(RADL_SOURCE_DIR) + "/examples/cifar10/subset";
    j.batch_size = 50;
    j.epochs = 6;
    j.precision = "fp32";
    j.threads = 1;
    j.schedule.peak = 0.01;
    j.augment.flip = "random";
    j.augment.translate = 2;
    j.directories = {folder_ + "/" + name + "/checkpoint", folder_ + "/" + name + "/events",
                     folder_ + "/" + name + "/model"};
    j.progress = folder_ + "/" + name + "/progress.jsonl";
    return j;
  }
  std::string weights(const std::string& name) {
    return *sha256_file(folder_ + "/" + name + "/model/model.safetensors");
  }
  std::vector<nlohmann::json> lines(const std::string& name, const std::string& event) {
    std::vector<nlohmann::json> out;
    std::string text = *read_file(folder_ + "/" + name + "/progress.jsonl");
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      nlohmann::json line = nlohmann::json::parse(text.substr(at, end - at));
      if (line["event"] == event) out.push_back(line);
    }
    return out;
  }
  // Runs and interrupts itself when batch `at` is done.
  Status interrupted_run(const Job& j, uint64_t at) {
    std::atomic<bool> stop = false;
    RunHooks hooks;
    hooks.cancelled = &stop;
    hooks.progress = [&](std::string_view text) {
      nlohmann::json line = nlohmann::json::parse(text);
      if (line["event"] == "evaluated" && line["step"].get<uint64_t>() >= at) stop = true;
    };
    return run_job(j, hooks).status();
  }
  std::string folder_;
};

TEST_F(TrainTest, LearnsAndLeavesEverythingThatTheJobNames) {
  Result<RunSummary> run = run_job(job("a"), {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GT(run->test_accuracy, 0.27) << "of ten classes, by a linear model on 2,000 pictures";
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
  uint64_t pictures = 0;
  for (const auto& row : report["confusion"]) {
    for (uint64_t n : row) pictures += n;
  }
  EXPECT_EQ(pictures, 500u);
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
  EXPECT_NE(s.message().find("a job with other settings"), std::string::npos) << s.message();
  other.resume = Resume::Never;
  EXPECT_TRUE(run_job(other, {}).ok());
  Job none = job("none");
  none.resume = Resume::Require;
  EXPECT_EQ(run_job(none, {}).status().code(), Code::NotFound);
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
  EXPECT_EQ(run_job(j, {}).status().message(), "batch_size: 5000 is more than the 2000 training pictures");
  j = job("a");
  j.model = "resnet-21";
  EXPECT_NE(run_job(j, {}).status().text().find("resnet20"), std::string::npos);
}

// A whole cluster in threads of this process, over TCP.
class ClusterTest : public TrainTest {
 protected:
  std::string free_address() {
    auto listener = dist::listen_tcp("127.0.0.1:0", std::string(32, 'k'), {});
    return (*listener)->address();
  }
  Job member(Job j, const std::string& type, int index) {
    j.task = {type, index};
    if (type != "ps" || index > 0) j.progress = "";
    return j;
  }
  Job cluster_job(const std::string& name, SyncMode mode, size_t servers, size_t workers) {
    Job j = job(name);
    j.sync.mode = mode;
    for (size_t i = 0; i < servers; ++i) j.cluster.ps.push_back(free_address());
    for (size_t i = 0; i < workers; ++i)
      j.cluster.worker.push_back("127.0.0.1:" + std::to_string(1000 + i));  // nobody listens there
    j.secrets = folder_ + "/job.key";
    j.peer_timeout_seconds = 5;
    j.start_timeout_seconds = 20;
    EXPECT_TRUE(write_file_atomic(j.secrets, to_hex(std::string(32, 'k')), 0600).ok());
    return j;
  }
  // Runs every member; returns the chief's summary.
  Result<RunSummary> run_all(const Job& j, RunHooks chief_hooks = {}) {
    std::vector<std::future<Result<RunSummary>>> members;
    for (int i = 0; i < static_cast<int>(j.cluster.ps.size()); ++i) {
      members.push_back(std::async(std::launch::async, [=, this] {
        return run_job(member(j, "ps", i), i == 0 ? chief_hooks : RunHooks());
      }));
    }
    for (int i = 0; i < static_cast<int>(j.cluster.worker.size()); ++i) {
      members.push_back(
          std::async(std::launch::async, [=, this] { return run_job(member(j, "worker", i), {}); }));
    }
    std::vector<Result<RunSummary>> results;
    for (auto& m : members) results.push_back(m.get());
    for (auto& r : results) {
      // A worker that had done its whole share before the chief was cancelled ended well.
      bool was_done = r.ok() && results[0].status().code() == Code::Cancelled;
      if (!was_done) {
        EXPECT_EQ(r.status().code(), results[0].status().code()) << r.status().text();
      }
    }
    return results[0];
  }
};

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
  std::atomic<bool> stop = false;
  RunHooks hooks;
  hooks.cancelled = &stop;
  hooks.progress = [&](std::string_view line) {
    if (line.find("\"evaluated\"") != std::string_view::npos) stop = true;
  };
  EXPECT_EQ(run_all(cluster_job("b", SyncMode::Sync, 1, 2), hooks).status().code(), Code::Cancelled);
  ASSERT_TRUE(run_all(cluster_job("b", SyncMode::Sync, 1, 2)).ok());
  EXPECT_EQ(weights("a"), weights("b"));
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
  auto taken = dist::listen_tcp("127.0.0.1:0", std::string(32, 'k'), {});
  Job j = cluster_job("a", SyncMode::Async, 1, 1);
  j.cluster.ps = {(*taken)->address()};
  Status s = run_job(member(j, "ps", 0), {}).status();
  EXPECT_EQ(s.message(), "cannot listen at " + (*taken)->address() + ": the address is in use");
  EXPECT_EQ(exit_code(s), 2);
}

}  // namespace
}  // namespace radl::engine
