// A small job run by every loop: one process, parameter servers in each mode, and a ring.
//
// RADL_BITS=FILE appends a line for each run whose bits are determined: the test, the loop, and a digest of
// all that the run ends with. Compare the files of two builds before and after a change that must not change
// results.
#pragma once

#include "tests/unit/engine/train/train_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "engine/train/checkpoint.h"

namespace radl::engine {

inline constexpr char kNet[] =
    "conv1: conv 12 stride=2\nnorm1: batchnorm momentum=0.3\nrelu\n"
    "conv2: conv 24 stride=2\nnorm2: groupnorm groups=4\nrelu\nglobalavgpool\nlinear classes\n";

struct Loop {
  const char* name;
  SyncMode mode;
  size_t servers, workers;  // no workers: one process
};
inline constexpr Loop kLocal{"local", SyncMode::Async, 0, 0};
inline constexpr Loop kAsync{"async, one worker", SyncMode::Async, 1, 1};
inline constexpr Loop kSync{"sync, one worker", SyncMode::Sync, 1, 1};
inline constexpr Loop kServers{"sync, two servers", SyncMode::Sync, 2, 1};
inline constexpr Loop kAsyncServers{"async, two servers", SyncMode::Async, 2, 1};
inline constexpr Loop kStaleServers{"stale, two servers", SyncMode::Stale, 2, 1};
inline constexpr Loop kStale{"stale, one worker", SyncMode::Stale, 1, 1};
inline constexpr Loop kRing{"ring of one", SyncMode::AllReduce, 0, 1};
inline constexpr Loop kAsync2{"async, two workers", SyncMode::Async, 1, 2};
inline constexpr Loop kStale2{"stale, two workers", SyncMode::Stale, 1, 2};
inline constexpr Loop kSync2{"sync, two workers", SyncMode::Sync, 1, 2};
inline constexpr Loop kSyncServers2{"sync, two servers, two workers", SyncMode::Sync, 2, 2};
inline constexpr Loop kRing2{"ring of two", SyncMode::AllReduce, 0, 2};

// What a run leaves, and what it began with.
struct Trained {
  Checkpoint end;
  nlohmann::json finished;  // the last line of worker 0, or of the one process
};

inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

class LoopsTest : public ClusterTest {
 protected:
  Job small_job() {
    Job j;
    j.model = kNet;
    j.dataset.directory = test::source_dir() + "/examples/cifar10/subset";
    j.dataset.train = 40;
    j.dataset.test = 20;
    j.batch_size = 5;
    j.epochs = 1;
    j.precision = "fp32";
    j.threads = 1;
    j.optimizer.name = "sgd";
    j.optimizer.weight_decay = 0.01;
    j.schedule = {.name = "one_cycle", .peak = 0.05, .warmup = 0.3, .final = 0.1};
    j.evaluate.every_epochs = 0;
    j.peer_timeout_seconds = 120;
    j.start_timeout_seconds = 120;
    return j;
  }

  // A run that fails, or leaves no checkpoint of its last batch, ends the test.
  Trained run(Job j, const Loop& loop) {
    j.directories.checkpoint = folder_ + "/" + std::to_string(++runs_);
    if (loop.workers > 0) {
      const bool ring = loop.mode == SyncMode::AllReduce;
      j.sync.mode = loop.mode;
      for (size_t i = 0; i < loop.servers; ++i) j.cluster.ps.push_back(own_address());
      for (size_t i = 0; i < loop.workers; ++i)
        j.cluster.worker.push_back(ring ? own_address() : "127.0.0.1:" + std::to_string(1000 + i));
      j.secrets = folder_ + "/job.key";
      test::need(write_file_atomic(j.secrets, to_hex(std::string(32, 'k')), 0600));
    }
    Trained out;
    StopSource over;
    RunHooks hooks, others;
    hooks.stop = others.stop = over.token();
    hooks.progress = [&out](std::string_view line) {
      nlohmann::json said = nlohmann::json::parse(line);
      if (said["event"] == "finished") out.finished = said;
    };
    std::vector<std::future<Result<RunSummary>>> members;
    const auto begin = [&](const std::string& type, int index, const RunHooks& its) {
      Job own = j;
      own.task = {type, index};
      members.push_back(std::async(std::launch::async, [own, its] { return run_job(own, its); }));
    };
    for (size_t i = 0; i < loop.servers; ++i) begin("ps", static_cast<int>(i), {});
    for (size_t i = 0; i < loop.workers; ++i) begin("worker", static_cast<int>(i), i == 0 ? hooks : others);
    if (members.empty()) begin("", 0, hooks);
    std::string failures;
    for (size_t i = 0; i < members.size(); ++i) {
      const Status ended = members[i].get().status();
      // One worker may have done all the batches before the other came.
      const bool late = i >= loop.servers && loop.workers > 1 && ended.code() == Code::Cancelled;
      if (!ended.ok() && !late) failures += fmt::format("\nmember {}: {}", i, ended.text());
      if (i + 1 == loop.servers) over.request();
    }
    if (!failures.empty()) test::give_up(loop.name + failures);
    std::optional<Checkpoint> found = test::need(load_latest(j.directories.checkpoint));
    if (!found || found->done() != steps_)
      test::give_up(fmt::format("{}: {} of {} batches are in the checkpoint", loop.name,
                                found ? found->done() : 0, steps_));
    out.end = std::move(*found);
    note_bits(loop, out.end);
    return out;
  }

  // Two workers without rounds take batches in any order.
  static void note_bits(const Loop& loop, const Checkpoint& end) {
    const char* file = std::getenv("RADL_BITS");
    if (file == nullptr ||
        (loop.workers > 1 && loop.mode != SyncMode::Sync && loop.mode != SyncMode::AllReduce))
      return;
    Sha256 hash;
    const auto add = [&hash](const std::vector<float>& v) {
      hash.update({reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float)});
    };
    add(end.weights), add(end.statistics), add(end.average);
    for (const std::vector<float>& v : end.optimizer) add(v);
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    std::ofstream(file, std::ios::app)
        << test.test_suite_name() << "." << test.name() << ", " << loop.name << ": " << hash.finish_hex()
        << " " << end.optimizer_steps << " " << end.averaged << "\n";
  }

  int runs_ = 0;
  uint64_t steps_ = 8;  // batches of the job
};

// `pieces`: a server sums up the statistics of a batch's pieces before it adds them.
inline void expect_same_bits(const Checkpoint& a, const Checkpoint& b, const char* loop,
                             bool pieces = false) {
  EXPECT_EQ(a.weights, b.weights) << loop;
  EXPECT_LT(distance(a.statistics, b.statistics), pieces ? 1e-6 : 1e-30) << loop;
  EXPECT_EQ(a.average, b.average) << loop;
  EXPECT_EQ(a.averaged, b.averaged) << loop;
  EXPECT_EQ(a.optimizer, b.optimizer) << loop;
  EXPECT_EQ(a.optimizer_steps, b.optimizer_steps) << loop;
}

inline void expect_equal_to_rounding(const Checkpoint& a, const Checkpoint& b, const char* loop) {
  EXPECT_LT(distance(a.weights, b.weights), 2e-5) << loop;
  EXPECT_LT(distance(a.statistics, b.statistics), 2e-5) << loop;
  EXPECT_LT(distance(a.average, b.average), 2e-5) << loop;
  EXPECT_EQ(a.averaged, b.averaged) << loop;
  EXPECT_EQ(a.optimizer_steps, b.optimizer_steps) << loop;
}

}  // namespace radl::engine
