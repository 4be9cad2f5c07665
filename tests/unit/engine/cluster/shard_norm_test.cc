// Clipping where each server has a part of the gradient: by the norm of the whole.
#include "engine/cluster/shard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <thread>

#include "tests/support/need.h"

namespace radl::engine::cluster {
namespace {

// One of two servers, with four parameters of eight; a gradient's norm is at most 1.
std::unique_ptr<Shard> server(uint32_t index, Mode mode, size_t workers) {
  Init init{.shard = index, .shards = 2, .first = 4 * index, .count = 4, .parameters = 8, .batches = 100};
  OptimizerConfig config{.momentum = 0};
  config.clip = 1;
  init.optimizer = *OptimizerPlan::make(config, {{.name = "p", .shape = {4}, .offset = 0, .size = 4}});
  init.state.weights = {1, 1, 1, 1};
  ShardOptions options;
  options.mode = mode;
  options.expected_workers = workers;
  options.gather = Milliseconds(10000);
  return test::need(Shard::make(init, options));
}

// A worker's push of the gradient (g, g, g, g).
Result<std::optional<double>> push_part(Shard& shard, uint32_t worker, uint64_t pass, const Assignment& a,
                                        float g, double squares = 0) {
  Push p{.ticket = a.ticket,
         .round = a.round,
         .participants = a.participants,
         .rate = 1,
         .images = 2,
         .squares = squares};
  std::vector<float> gradient(4, g);
  p.gradients = {reinterpret_cast<char*>(gradient.data()), 16};
  return shard.push(worker, pass, p);
}

// Two workers whose parts of the first round, 1 and 0.5 in each parameter, server 0 has summed up.
class SummedRound : public testing::Test {
 protected:
  void SetUp() override {
    auto early = std::async(std::launch::async, [this] { return *shard->next(0, a); });
    second = *shard->next(1, b);
    first = early.get();
    auto waiting = std::async(std::launch::async, [this] { return push_part(*shard, 0, a, first, 1); });
    Result<std::optional<double>> part = push_part(*shard, 1, b, second, 0.5f), other = waiting.get();
    ASSERT_TRUE(part.ok() && other.ok());
    ASSERT_TRUE(*part && *other);
    EXPECT_EQ(**part, 4 * 0.75 * 0.75);
    EXPECT_EQ(**other, **part) << "all workers add up the same";
  }

  std::unique_ptr<Shard> shard = server(0, Mode::Sync, 2);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  Assignment first, second;
};

TEST_F(SummedRound, IsAppliedOnceWithTheNormOfAllParts) {
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 1)) << "before the norm is known";
  ASSERT_TRUE(shard->norm(1, b, {.round = first.round, .squares = 9}).ok());
  ASSERT_TRUE(shard->norm(0, a, {.round = first.round, .squares = 9}).ok()) << "the other one's, later";
  for (float w : shard->snapshot().weights) EXPECT_NEAR(w, 1 - 0.75 / 3, 1e-6);
  EXPECT_EQ(shard->report().tickets_done, 2u);
  EXPECT_EQ(shard->snapshot().version, 1u);
}

TEST_F(SummedRound, ASmallNormClipsNothing) {
  ASSERT_TRUE(shard->norm(1, b, {.round = first.round, .squares = 2.25}).ok());
  for (float w : shard->snapshot().weights) EXPECT_NEAR(w, 1 - 0.75 / 1.5, 1e-6);
}

TEST_F(SummedRound, ANormThatCannotBeOfAllPartsIsRefused) {
  for (double wrong : {2.0, -1.0, double(NAN), double(INFINITY)})
    EXPECT_EQ(shard->norm(1, b, {.round = first.round, .squares = wrong}).code(), Code::Corrupt) << wrong;
  EXPECT_EQ(shard->norm(1, b, {.round = first.round + 1, .squares = 9}).code(), Code::Corrupt);
  EXPECT_EQ(shard->snapshot().version, 0u);
}

TEST_F(SummedRound, OneWorkerThatIsLeftBringsTheNorm) {
  shard->leave(0, a, 2, 1, "lost");
  EXPECT_EQ(shard->snapshot().version, 0u);
  ASSERT_TRUE(shard->norm(1, b, {.round = first.round, .squares = 9}).ok());
  for (float w : shard->snapshot().weights) EXPECT_NEAR(w, 1 - 0.75 / 3, 1e-6) << "the mean of both";
}

TEST_F(SummedRound, ItsBatchesAreGivenAgainIfNobodyIsLeftToBringTheNorm) {
  shard->leave(0, a, 2, 1, "lost");
  shard->leave(1, b, 2, 1, "lost");
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 1));
  const uint64_t c = shard->join(2, 12);
  for (uint64_t ticket : {0u, 1u}) {
    const Assignment again = *shard->next(2, c);
    EXPECT_EQ(again.ticket, ticket);
    ASSERT_TRUE(*push_part(*shard, 2, c, again, 0));
    ASSERT_TRUE(shard->norm(2, c, {.round = again.round}).ok());
  }
  EXPECT_EQ(shard->report().tickets_done, 2u);
}

TEST(ClippedShard, WithoutRoundsTheNormComesWithThePush) {
  auto shard = server(0, Mode::Async, 1);
  EXPECT_EQ(shard->welcome().norms, Norms::InPush);
  const uint64_t pass = shard->join(0, 10);
  Result<std::optional<double>> pushed = push_part(*shard, 0, pass, *shard->next(0, pass), 1, 16);
  ASSERT_TRUE(pushed.ok());
  EXPECT_FALSE(*pushed) << "the worker has nothing more to send";
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 0.75f));
}

TEST(ClippedShard, AnInfiniteNormIsADivergedRunAtEveryServer) {
  auto shard = server(0, Mode::Stale, 1);
  const uint64_t pass = shard->join(0, 10);
  ASSERT_TRUE(push_part(*shard, 0, pass, *shard->next(0, pass), 1, INFINITY).ok());
  EXPECT_EQ(shard->report().failure, "a gradient became infinite or not a number at batch 0");
  EXPECT_EQ(shard->snapshot().version, 0u);
}

}  // namespace
}  // namespace radl::engine::cluster
