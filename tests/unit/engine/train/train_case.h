// Whole runs of the engine on the CIFAR-10 subset of the repository, alone and as a cluster in threads.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <list>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "engine/train/run.h"
#include "tests/support/need.h"
#include "tests/support/paths.h"
#include "tests/support/reserved_port.h"

namespace radl::engine {

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
    j.dataset.directory = test::source_dir() + "/examples/cifar10/subset";
    j.batch_size = 50;
    j.epochs = 6;
    j.precision = "fp32";
    j.threads = 1;
    j.schedule.peak = 0.01;
    j.schedule.warmup = 0;
    j.augment.flip = "random";
    j.augment.translate = 2;
    j.directories = {folder_ + "/" + name + "/checkpoint", folder_ + "/" + name + "/events",
                     folder_ + "/" + name + "/model"};
    j.progress = folder_ + "/" + name + "/progress.jsonl";
    return j;
  }
  std::string weights(const std::string& name) {
    return test::need(sha256_file(folder_ + "/" + name + "/model/model.safetensors"));
  }
  std::vector<nlohmann::json> lines(const std::string& name, const std::string& event) {
    std::vector<nlohmann::json> out;
    const std::string text = test::need(read_file(folder_ + "/" + name + "/progress.jsonl"));
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      nlohmann::json line = nlohmann::json::parse(text.substr(at, end - at));
      if (line["event"] == event) out.push_back(line);
    }
    return out;
  }
  // Runs and interrupts itself when batch `at` is done.
  Status interrupted_run(const Job& j, uint64_t at) {
    StopSource stop;
    RunHooks hooks;
    hooks.stop = stop.token();
    hooks.progress = [&](std::string_view text) {
      nlohmann::json line = nlohmann::json::parse(text);
      if (line["event"] == "evaluated" && line["step"].get<uint64_t>() >= at) stop.request();
    };
    return run_job(j, hooks).status();
  }
  std::string folder_;
};

// A whole cluster in threads of this process, over TCP.
class ClusterTest : public TrainTest {
 protected:
  // Of a port that nothing but this test's members can have.
  std::string own_address() { return ports_.emplace_back().address(); }
  Job member(Job j, const std::string& type, int index) {
    j.task = {type, index};
    if (type != "ps" || index > 0) j.progress = "";
    return j;
  }
  Job cluster_job(const std::string& name, SyncMode mode, size_t servers, size_t workers) {
    Job j = job(name);
    j.sync.mode = mode;
    for (size_t i = 0; i < servers; ++i) j.cluster.ps.push_back(own_address());
    for (size_t i = 0; i < workers; ++i)
      j.cluster.worker.push_back("127.0.0.1:" + std::to_string(1000 + i));  // nobody listens there
    j.secrets = folder_ + "/job.key";
    j.peer_timeout_seconds = 5;
    j.start_timeout_seconds = 20;
    test::need(write_file_atomic(j.secrets, to_hex(std::string(32, 'k')), 0600));
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

 private:
  std::list<test::ReservedPort> ports_;
};

}  // namespace radl::engine
