// Every option of layers and optimizers means the same in every loop: one process, parameter servers in each
// mode, and a ring, with one worker and with two.
#include "tests/unit/engine/train/loops_case.h"

#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "engine/kernels/parallel.h"
#include "engine/model/graph.h"
#include "engine/train/checkpoint.h"
#include "engine/train/cluster.h"
#include "engine/train/setup.h"

namespace radl::engine {
namespace {

std::unique_ptr<Setup> start_of(Job j) {
  std::unique_ptr<Setup> setup = test::need(Setup::make(j, true));
  test::need(whiten_from_data(*setup, j));
  return setup;
}

struct Option {
  const char* name;
  std::function<void(Job&)> set;
  // What holds in every loop, with any number of workers.
  std::function<void(const Job&, Setup& start, const Checkpoint& end)> holds = {};
  bool rounds = false;  // servers add up their parts of a norm: several agree with one to rounding
};

void PrintTo(const Option& option, std::ostream* out) { *out << option.name; }

// What a run changed; weights themselves hide a small change that is wrong.
std::vector<float> moved(const Checkpoint& end, Setup& start) {
  std::vector<float> out(end.weights);
  for (size_t i = 0; i < out.size(); ++i) out[i] -= start.network->parameters()[i];
  return out;
}

class OptionLoopsTest : public LoopsTest, public testing::WithParamInterface<Option> {};

TEST_P(OptionLoopsTest, MeansTheSameInEveryLoop) {
  const Option& option = GetParam();
  Job j = small_job();
  option.set(j);
  const auto holds = [&](const Checkpoint& end, const char* loop) {
    SCOPED_TRACE(loop);
    for (float v : end.weights) ASSERT_TRUE(std::isfinite(v));
    if (option.holds) option.holds(j, *start_of(j), end);
  };
  const Trained alone = run(j, kLocal);
  holds(alone.end, "local");
  if (std::string(option.name) != "plain") {
    const Trained plain = run(small_job(), kLocal);
    EXPECT_TRUE(alone.end.weights != plain.end.weights || alone.end.statistics != plain.end.statistics)
        << "the option changes something";
  }
  for (const Loop& loop : {kAsync, kAsyncServers, kSync, kServers, kStale, kStaleServers, kRing}) {
    const bool ring = loop.mode == SyncMode::AllReduce;
    const Trained other = run(j, loop);
    holds(other.end, loop.name);
    if (ring || (option.rounds && loop.servers > 1))  // a ring adds differences of statistics
      expect_equal_to_rounding(other.end, alone.end, loop.name);
    else
      expect_same_bits(other.end, alone.end, loop.name, j.accumulate > 1);
  }
  if (option.rounds) {
    const auto start = start_of(j);
    for (const Loop& loop : {kAsyncServers, kServers, kStaleServers})
      EXPECT_LT(distance(moved(run(j, loop).end, *start), moved(alone.end, *start)), 1e-2) << loop.name;
  }
  const Trained ring = run(j, kRing2);
  holds(ring.end, kRing2.name);
  expect_same_bits(run(j, kRing2).end, ring.end, "ring of two, again");
  const Trained sync = run(j, kSync2);
  holds(sync.end, kSync2.name);
  expect_same_bits(run(j, kSync2).end, sync.end, "sync, two workers, again");
  expect_equal_to_rounding(sync.end, ring.end, "sync and ring");
  const Trained servers = run(j, kSyncServers2);
  if (option.rounds)
    EXPECT_LT(distance(moved(servers.end, *start_of(j)), moved(sync.end, *start_of(j))), 1e-2);
  else
    expect_same_bits(servers.end, sync.end, kSyncServers2.name);
  for (const Loop& loop : {kAsync2, kStale2}) holds(run(j, loop).end, loop.name);
}

// Frozen parameters and statistics are the bits that the run began with, all others have changed.
void frozen_stay(const Job&, Setup& start, const Checkpoint& end) {
  Network& network = *start.network;
  size_t frozen = 0, changed = 0;
  for (const ParameterInfo& p : network.parameter_layout()) {
    const bool same = std::equal(end.weights.begin() + static_cast<long>(p.offset),
                                 end.weights.begin() + static_cast<long>(p.offset + p.size),
                                 network.parameters().begin() + static_cast<long>(p.offset));
    EXPECT_EQ(same, p.frozen) << p.name;
    (p.frozen ? frozen : changed) += 1;
  }
  EXPECT_GT(frozen, 0u);
  EXPECT_GT(changed, 0u);
  for (const Layer& layer : network.graph().layers) {
    if (layer.running_mean < 0) continue;
    const ParameterInfo& p = network.graph().statistics[static_cast<size_t>(layer.running_mean)];
    const bool same = std::equal(end.statistics.begin() + static_cast<long>(p.offset),
                                 end.statistics.begin() + static_cast<long>(p.offset + p.size),
                                 network.statistics().begin() + static_cast<long>(p.offset));
    EXPECT_EQ(same, layer.frozen) << layer.name;
  }
}

void freeze(Job& j) {
  j.model =
      "conv1: conv 12 stride=2 frozen=yes\nnorm1: batchnorm frozen=yes\nrelu\n"
      "conv2: conv 24 stride=2\nnorm2: batchnorm\nnorm3: groupnorm groups=4 frozen=yes\nrelu\n"
      "norm4: layernorm frozen=yes\nglobalavgpool\nlinear classes\n";
  j.optimizer.weight_decay = j.optimizer.bias_decay = 0.1;
}

const std::vector<Option> kOptions = {
    {"plain", [](Job&) {}},
    {"frozen", freeze, frozen_stay},
    {"frozen_lars",
     [](Job& j) {
       freeze(j);
       j.optimizer.name = "lars";
       j.schedule.peak = 5;
     },
     frozen_stay},
    {"frozen_adamw_ema",
     [](Job& j) {
       freeze(j);
       j.optimizer.name = "adamw";
       j.schedule.peak = 0.01;
       j.average = {"ema", 0.5, 0};
     },
     frozen_stay},
    {"whiten",
     [](Job& j) {
       j.model =
           "white: conv 24 kernel=2 pad=valid stride=2 whiten=yes bias=yes\nrelu\nconv 12 "
           "stride=2\nbatchnorm\n"
           "relu\nglobalavgpool\nlinear classes\n";
       j.optimizer.bias_decay = 0.1;
     },
     frozen_stay},
    {"batchnorm_slow", [](Job& j) { j.model.replace(j.model.find("momentum=0.3"), 12, "momentum=0.01"); },
     [](const Job&, Setup& start, const Checkpoint& end) {
       double moved = 0;  // at most a hundredth of what the batches have, eight times
       for (size_t i = 0; i < end.statistics.size(); ++i)
         moved = std::max(moved, std::fabs(static_cast<double>(end.statistics[i]) -
                                           static_cast<double>(start.network->statistics()[i])));
       EXPECT_GT(moved, 0);
       EXPECT_LT(moved, 1) << "with a momentum of 0.3 it is 3.8";
     }},
    {"dropout",
     [](Job& j) { j.model.replace(j.model.find("globalavgpool"), 13, "dropout rate=0.4\nglobalavgpool"); }},
    {"accumulate", [](Job& j) { j.accumulate = 3; }},
    {"clip",
     [](Job& j) {
       j.optimizer.clip = 0.05;
       j.optimizer.momentum = j.optimizer.weight_decay = 0;
       j.optimizer.nesterov = false;
     },
     [](const Job& j, Setup& start, const Checkpoint& end) {
       double moved = 0;
       for (size_t i = 0; i < end.weights.size(); ++i)
         moved += std::pow(
             static_cast<double>(end.weights[i]) - static_cast<double>(start.network->parameters()[i]), 2);
       EXPECT_LE(std::sqrt(moved), 8 * j.schedule.peak * j.optimizer.clip * 1.001);
       EXPECT_GT(moved, 0);
     },
     true},
    {"ema",
     [](Job& j) {
       j.average = {"ema", 0.5, 0}, j.optimizer.momentum = 0.5;
     },
     [](const Job&, Setup&, const Checkpoint& end) {
       EXPECT_EQ(end.averaged, end.version);
       EXPECT_NE(end.average, end.weights);
     }},
    {"swa",
     [](Job& j) {
       j.average = {"swa", 0, 0.5}, j.optimizer.momentum = 0.5;
     },
     [](const Job&, Setup&, const Checkpoint& end) { EXPECT_EQ(end.averaged, end.version / 2); }},
    {"bias_decay_and_rate", [](Job& j) { j.optimizer.bias_decay = 0.2, j.optimizer.bias_rate = 7; }},
    {"momentum", [](Job& j) { j.optimizer.momentum = 0.3, j.optimizer.nesterov = false; }},
    {"adamw",
     [](Job& j) {
       j.optimizer.name = "adamw";
       j.optimizer.beta1 = 0.8;
       j.optimizer.beta2 = 0.9;
       j.optimizer.epsilon = 1e-4;
       j.schedule.peak = 0.01;
     }},
    {"lars", [](Job& j) { j.optimizer.name = "lars", j.optimizer.trust = 0.01, j.schedule.peak = 1; }},
    {"label_smoothing", [](Job& j) { j.label_smoothing = 0.2; }},
    {"resize",
     [](Job& j) {
       j.resize = {{0.5, 0.5}};
     }},
    {"augmented", [](Job& j) { j.augment.flip = "random", j.augment.translate = 3, j.augment.cutout = 5; }},
    {"muon_and_head_rate",
     [](Job& j) {
       j.optimizer.name = "muon";
       j.optimizer.head_rate = 3;
       j.optimizer.rest_momentum = 0.5;
       j.optimizer.iterations = 3;
       j.schedule.peak = 0.02;
     },
     {}},
};

// Nothing reads the empty checkpoint of a run that failed.
TEST_F(LoopsTest, AFailedRunEndsItsTestWithTheReason) {
  Job j = small_job();
  j.model = "conv nonsense";
  testing::TestPartResultArray failures;
  bool ended = false;
  {
    testing::ScopedFakeTestPartResultReporter reporter(&failures);
    try {
      run(j, kLocal);
    } catch (const testing::AssertionException&) {
      ended = true;
    }
  }
  EXPECT_TRUE(ended);
  ASSERT_EQ(failures.size(), 1);
  EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("nonsense"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Options, OptionLoopsTest, testing::ValuesIn(kOptions),
                         [](const auto& info) { return std::string(info.param.name); });

// An encoding that is ignored leaves the numbers and the bytes on the link as they are.
class WireTest : public LoopsTest {
 protected:
  void expect_near_but_not_same(const Trained& rounded, const Trained& exact) {
    EXPECT_NE(rounded.end.weights, exact.end.weights);
    EXPECT_LT(distance(rounded.end.weights, exact.end.weights), 0.02);
  }
  static double bytes(const Trained& run, const char* way) { return run.finished.at(way).get<double>(); }
};

TEST_F(WireTest, GradientsTravelAsAsked) {
  for (const Loop& loop : {kSync, kAsync, kRing2}) {
    SCOPED_TRACE(loop.name);
    const Trained exact = run(small_job(), loop);
    for (Encoding encoding : {Encoding::Bf16, Encoding::Fp16}) {
      Job j = small_job();
      j.sync.gradients = encoding;
      const Trained rounded = run(j, loop);
      expect_near_but_not_same(rounded, exact);
      if (loop.servers > 0) {
        EXPECT_LT(bytes(rounded, "sent_bytes_per_step"), 0.65 * bytes(exact, "sent_bytes_per_step"));
        EXPECT_GT(bytes(rounded, "received_bytes_per_step"), 0.9 * bytes(exact, "received_bytes_per_step"));
      }
    }
  }
}

TEST_F(WireTest, WeightsTravelAsAsked) {
  const Trained exact = run(small_job(), kSync);
  for (Encoding encoding : {Encoding::Bf16, Encoding::Fp16}) {
    Job j = small_job();
    j.sync.weights = encoding;
    const Trained rounded = run(j, kSync);
    expect_near_but_not_same(rounded, exact);
    EXPECT_LT(bytes(rounded, "received_bytes_per_step"), 0.65 * bytes(exact, "received_bytes_per_step"));
    EXPECT_GT(bytes(rounded, "sent_bytes_per_step"), 0.9 * bytes(exact, "sent_bytes_per_step"));
  }
}

TEST_F(WireTest, LocalStepsAreTakenBetweenExchanges) {
  const Trained each = run(small_job(), kRing2);
  Job j = small_job();
  j.sync.local_steps = 4;
  const Trained once = run(j, kRing2);
  EXPECT_NE(once.end.weights, each.end.weights);
  EXPECT_EQ(once.end.optimizer_steps, each.end.optimizer_steps);
  Job rounded = j;
  rounded.sync.gradients = Encoding::Bf16;
  expect_near_but_not_same(run(rounded, kRing2), once);
}

TEST_F(WireTest, Int8GradientsRoundTheUpdates) {
  const Trained exact = run(small_job(), kRing2);
  Job j = small_job();
  j.sync.gradients = Encoding::Int8;
  const Trained rounded = run(j, kRing2);
  EXPECT_NE(rounded.end.weights, exact.end.weights);
  EXPECT_LT(distance(rounded.end.weights, exact.end.weights), 0.05);
  expect_same_bits(run(j, kRing2).end, rounded.end, "again");
}

TEST_F(WireTest, Int8PushesRoundTheUpdates) {
  const Trained exact = run(small_job(), kSync);
  Job j = small_job();
  j.sync.gradients = Encoding::Int8;
  const Trained rounded = run(j, kSync);
  EXPECT_NE(rounded.end.weights, exact.end.weights);
  EXPECT_LT(distance(rounded.end.weights, exact.end.weights), 0.05);
  EXPECT_LT(bytes(rounded, "sent_bytes_per_step"), 0.4 * bytes(exact, "sent_bytes_per_step"));
  expect_same_bits(run(j, kSync).end, rounded.end, "again");
}

TEST_F(WireTest, OverlapChangesNoBits) {
  Job j = small_job();
  const Trained early = run(j, kSync);
  j.sync.overlap = false;
  expect_same_bits(run(j, kSync).end, early.end, "sent after the backward pass");
}

// A third worker is named, so that one of them can be a backup.
TEST_F(WireTest, OptionsOfServersAreRefusedWhereTheyHaveNoEffect) {
  const auto problem = [&](const SyncSpec& sync, size_t servers) {
    Job j = small_job();
    j.cluster.ps.assign(servers, "127.0.0.1:1");
    for (size_t i = 1; i < servers; ++i) j.cluster.ps[i] = "127.0.0.1:1" + std::to_string(i);
    j.cluster.worker = {"127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"};
    j.task = {"ps", 0};
    j.secrets = "key";
    j.sync = sync;
    return check_job(j).text();
  };
  const auto names = [](const std::string& text, const char* key) {
    return text.find(key) != std::string::npos;
  };
  EXPECT_EQ(problem({.mode = SyncMode::Sync, .backup_workers = 2}, 1), "");
  EXPECT_TRUE(names(problem({.mode = SyncMode::Sync, .backup_workers = 3}, 1), "sync.backup_workers"));
  EXPECT_TRUE(names(problem({.mode = SyncMode::Sync, .backup_workers = 1}, 2), "sync.backup_workers"));
  EXPECT_TRUE(names(problem({.mode = SyncMode::Async, .backup_workers = 1}, 1), "sync.backup_workers"));
  EXPECT_EQ(problem({.mode = SyncMode::Stale, .compensation = 1}, 2), "");
  EXPECT_TRUE(names(problem({.mode = SyncMode::Sync, .compensation = 1}, 1), "sync.compensation"));
  for (const Encoding gradients : {Encoding::TopK, Encoding::PowerSgd})
    EXPECT_TRUE(names(problem({.mode = SyncMode::Sync, .gradients = gradients}, 1), "sync.gradients"));
  EXPECT_EQ(problem({.mode = SyncMode::Sync, .gradients = Encoding::Int8}, 1), "");
}

TEST_F(WireTest, WhatHasNoMeaningInAModeIsRefused) {
  Job j = small_job();
  j.sync = {.mode = SyncMode::AllReduce, .weights = Encoding::Bf16};
  EXPECT_NE(check_job(j).text().find("sync.weights"), std::string::npos);
  j.sync.gradients = Encoding::Bf16, j.sync.weights = Encoding::Fp32;
  EXPECT_TRUE(check_job(j).ok()) << check_job(j).text();
}

TEST_F(WireTest, ServersGetTheJobsOptions) {
  Job j = small_job();
  j.cluster.ps = {"127.0.0.1:1"};
  j.cluster.worker = {"127.0.0.1:2", "127.0.0.1:3"};
  j.task = {"ps", 0};
  j.sync = {.mode = SyncMode::Stale, .staleness = 3, .weights = Encoding::Fp16};
  j.threads = 3;
  cluster::ShardOptions shard = server_options(j, std::string(32, 'k')).shard;
  EXPECT_EQ(shard.mode, cluster::Mode::Stale);
  EXPECT_EQ(shard.staleness, 3);
  EXPECT_EQ(shard.expected_workers, 2u);
  EXPECT_EQ(shard.weights, cluster::Numbers::Fp16);
  EXPECT_EQ(shard.threads, 3);
  j.sync = {.mode = SyncMode::Sync, .backup_workers = 1};
  EXPECT_EQ(server_options(j, std::string(32, 'k')).shard.backups, 1u);
  j.sync = {.mode = SyncMode::Async, .compensation = 0.5};
  EXPECT_EQ(server_options(j, std::string(32, 'k')).shard.compensation, 0.5f);
  EXPECT_EQ(optimizer_config(j).threads, 3);
  j.threads = 0;
  EXPECT_EQ(server_options(j, std::string(32, 'k')).shard.threads, usable_cores());
  EXPECT_EQ(optimizer_config(j).threads, usable_cores());
}

}  // namespace
}  // namespace radl::engine
