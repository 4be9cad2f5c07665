// Gradients of which only a part travels: they learn, each option has an effect, and a run resumes.
#include "tests/unit/engine/train/ring_case.h"

#include <functional>

namespace radl::engine {
namespace {

class CodecTrainTest : public RingTrainTest {
 protected:
  Job compressed(const std::string& name, size_t workers, Encoding gradients) {
    Job j = ring_job(name, workers);
    j.optimizer.name = "sgd";
    j.sync.gradients = gradients;
    j.sync.density = gradients == Encoding::TopK ? 0.02 : j.sync.density;
    return j;
  }
};

TEST_F(CodecTrainTest, LearnsWithTheSameBitsAgain) {
  for (const Encoding gradients : {Encoding::TopK, Encoding::PowerSgd, Encoding::Int8}) {
    const std::string name(encoding_name(gradients));
    const auto run = [&](const std::string& folder) {
      const RunSummary one = test::need(run_ring(compressed(folder, 2, gradients)));
      EXPECT_EQ(one.steps, 120u) << name;
      EXPECT_GT(one.test_accuracy, 0.22) << name;
    };
    run(name);
    run(name + "-again");
    EXPECT_EQ(weights(name), weights(name + "-again"));
  }
}

TEST_F(CodecTrainTest, EachOptionHasAnEffect) {
  const auto ended = [&](const std::string& name, Encoding gradients,
                         const std::function<void(Job&)>& change = {}) {
    Job j = compressed(name, 2, gradients);
    j.epochs = 1;
    if (change) change(j);
    test::need(run_ring(j));
    return weights(name);
  };
  const std::string exact = ended("exact", Encoding::Fp32), top_k = ended("top_k", Encoding::TopK),
                    power_sgd = ended("power_sgd", Encoding::PowerSgd);
  EXPECT_NE(top_k, exact);
  EXPECT_NE(power_sgd, exact);
  EXPECT_NE(ended("rank", Encoding::PowerSgd, [](Job& j) { j.sync.rank = 3; }), power_sgd);
  EXPECT_NE(ended("density", Encoding::TopK, [](Job& j) { j.sync.density = 0.5; }), top_k);
  EXPECT_NE(ended("momentum", Encoding::TopK, [](Job& j) { j.optimizer.momentum = 0.5; }), top_k);
  EXPECT_NE(ended("nesterov", Encoding::TopK, [](Job& j) { j.optimizer.nesterov = false; }), top_k);
  EXPECT_NE(ended("decay", Encoding::TopK, [](Job& j) { j.optimizer.weight_decay = 0.05; }), top_k);
}

// With one worker, since a checkpoint contains only what the chief left out.
TEST_F(CodecTrainTest, WhatWasLeftOutIsInTheCheckpoint) {
  for (const Encoding gradients : {Encoding::TopK, Encoding::PowerSgd}) {
    const std::string name(encoding_name(gradients)), rest = name + "-resumed";
    test::need(run_ring(compressed(name, 1, gradients)));
    StopSource stop;
    RunHooks hooks;
    hooks.stop = stop.token();
    hooks.progress = [&](std::string_view line) {
      if (line.find("\"evaluated\"") != std::string_view::npos) stop.request();
    };
    EXPECT_EQ(run_ring(compressed(rest, 1, gradients), hooks).status().code(), Code::Cancelled);
    Job resumed = compressed(rest, 1, gradients);
    resumed.resume = Resume::Require;
    EXPECT_GT(test::need(run_ring(resumed)).resumed_from, 0u);
    EXPECT_EQ(weights(rest), weights(name)) << name;
  }
}

TEST_F(CodecTrainTest, ResumesWithOtherWorkers) {
  for (const Encoding gradients : {Encoding::TopK, Encoding::PowerSgd}) {
    const std::string name(encoding_name(gradients));
    test::need(run_ring(compressed(name, 2, gradients)));
    Job more = compressed(name, 3, gradients);
    more.epochs = 4;
    more.resume = Resume::Require;
    const RunSummary run = test::need(run_ring(more));
    EXPECT_EQ(run.resumed_from, 120u);
    EXPECT_GT(run.test_accuracy, 0.22);
  }
}

TEST_F(CodecTrainTest, WhatHasNoMeaningIsRefused) {
  const auto problem = [&](Encoding gradients, const std::function<void(Job&)>& change) {
    Job j = compressed("refused", 2, gradients);
    j = member(j, "worker", 0);
    EXPECT_EQ(check_job(j).text(), "");
    change(j);
    return check_job(j).text();
  };
  const auto names = [](const std::string& text, const char* key) {
    return text.find(key) != std::string::npos;
  };
  for (const Encoding gradients : {Encoding::TopK, Encoding::PowerSgd}) {
    EXPECT_TRUE(names(problem(gradients, [](Job& j) { j.sync.mode = SyncMode::Auto; }), "sync.gradients"));
    EXPECT_TRUE(names(problem(gradients, [](Job& j) { j.sync.local_steps = 4; }), "sync.gradients"));
    EXPECT_TRUE(names(problem(gradients, [](Job& j) { j.optimizer.name = "muon"; }), "sync.gradients"));
    EXPECT_TRUE(names(problem(gradients, [&](Job& j) { j.sync.weights = gradients; }), "sync.weights"));
  }
  EXPECT_TRUE(names(problem(Encoding::TopK, [](Job& j) { j.optimizer.name = "adamw"; }), "sync.gradients"));
  EXPECT_TRUE(names(problem(Encoding::TopK, [](Job& j) { j.optimizer.clip = 1; }), "optimizer.clip"));
  EXPECT_TRUE(names(problem(Encoding::TopK, [](Job& j) { j.optimizer.weight_decay = 0.2; }),
                    "optimizer.weight_decay"));
  EXPECT_TRUE(names(problem(Encoding::TopK, [](Job& j) { j.sync.rank = 4; }), "sync.rank"));
  EXPECT_TRUE(names(problem(Encoding::PowerSgd, [](Job& j) { j.sync.density = 0.1; }), "sync.density"));
  EXPECT_EQ(problem(Encoding::PowerSgd, [](Job& j) { j.optimizer.name = "adamw"; }), "");
  Job servers = cluster_job("servers", SyncMode::Sync, 1, 2);
  servers.task = {"worker", 0};
  servers.sync.gradients = Encoding::PowerSgd;
  EXPECT_TRUE(names(check_job(servers).text(), "sync.gradients"));
}

}  // namespace
}  // namespace radl::engine
