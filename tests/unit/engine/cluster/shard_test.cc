// The rules of a shard and of tickets, without links.
#include "engine/cluster/shard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <limits>
#include <set>
#include <thread>

#include "tests/support/need.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;

OptimizerPlan plan_of(const OptimizerConfig& config, size_t size) {
  return *OptimizerPlan::make(config,
                              {{.name = "p", .shape = {static_cast<int>(size)}, .offset = 0, .size = size}});
}

Init init_of(uint64_t total, std::vector<float> weights = {1, 1, 1, 1}) {
  Init init{.count = weights.size(), .parameters = weights.size(), .batches = total, .keep = {1}};
  init.optimizer = plan_of({.momentum = 0}, weights.size());
  init.state.weights = std::move(weights);
  init.state.statistics = {10};
  return init;
}

std::unique_ptr<Shard> make(Mode mode, size_t workers = 1, int staleness = 0, uint64_t total = 100) {
  ShardOptions options;
  options.mode = mode;
  options.staleness = staleness;
  options.expected_workers = workers;
  options.gather = 10s;
  return test::need(Shard::make(init_of(total), options));
}

// A push of the gradient (g, g, g, g), which adds g to the statistics too.
Status push(Shard& shard, uint32_t worker, uint64_t pass, const Assignment& a, float g, double loss = 1) {
  Push p{.ticket = a.ticket,
         .round = a.round,
         .participants = a.participants,
         .rate = 1,
         .loss = loss,
         .correct = 1,
         .images = 2};
  std::vector<float> gradient(4, g), added = {g};
  p.gradients = {reinterpret_cast<char*>(gradient.data()), 16};
  p.statistics = {reinterpret_cast<char*>(added.data()), 4};
  return shard.push(worker, pass, p).status();
}

TrainingState state_of(const Tickets& tickets) {
  TrainingState out;
  tickets.store(out);
  return out;
}

TEST(Tickets, EachIsDoneOnceWhoeverIsLost) {
  Tickets t(5);
  EXPECT_EQ(t.take(0), 0u);
  EXPECT_EQ(t.take(1), 1u);
  EXPECT_TRUE(t.finish(0, 0));
  EXPECT_EQ(t.take(0), 2u);
  t.give_back(1);                // worker 1 is lost with batch 1
  EXPECT_FALSE(t.finish(1, 1));  // too late
  EXPECT_EQ(t.take(2), 1u);
  EXPECT_EQ(t.take(2), 3u);
  EXPECT_EQ(t.take(0), 4u);
  EXPECT_FALSE(t.take(0).has_value());
  EXPECT_FALSE(t.finished());
  EXPECT_EQ(state_of(t), (TrainingState{.next = 1})) << "1 to 4 are not done";
  for (uint64_t n : {1, 3}) EXPECT_TRUE(t.finish(2, n));
  for (uint64_t n : {2, 4}) EXPECT_TRUE(t.finish(0, n));
  EXPECT_TRUE(t.finished());
}

TEST(Tickets, ResumeWhereTheyWere) {
  Tickets t(10, {.next = 6, .again = {2, 4}});
  EXPECT_EQ(t.done(), 4u);
  EXPECT_EQ(t.take(0), 2u);
  EXPECT_EQ(t.take(0), 4u);
  EXPECT_EQ(t.take(0), 6u);
}

TEST(Shard, AsyncAppliesEveryGradientAndEveryChange) {
  auto shard = make(Mode::Async);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  Assignment first = *shard->next(0, a), second = *shard->next(1, b);
  EXPECT_EQ(first.ticket, 0u);
  EXPECT_EQ(first.then, 1u) << "reserved for it";
  EXPECT_EQ(second.ticket, 2u);
  ASSERT_TRUE(push(*shard, 1, b, second, 0.5f).ok());
  ASSERT_TRUE(push(*shard, 0, a, first, 0.25f).ok());
  TrainingState s = shard->snapshot();
  EXPECT_EQ(s.weights, std::vector<float>(4, 0.25f));
  EXPECT_EQ(s.statistics, std::vector<float>{10.75f});
  Report report = shard->report();
  EXPECT_EQ(report.tickets_done, 2u);
  EXPECT_EQ(report.images, 4u);
  EXPECT_EQ(report.staleness_sum, 1u);
}

TEST(Shard, SyncAppliesTheMeanOnceAllAreThere) {
  auto shard = make(Mode::Sync, 2);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  auto early = std::async(std::launch::async, [&] { return *shard->next(0, a); });
  EXPECT_EQ(early.wait_for(50ms), std::future_status::timeout)
      << "the first round waits for the second worker";
  Assignment second = *shard->next(1, b), first = early.get();
  EXPECT_EQ(first.participants, (std::vector<uint64_t>{10, 11}));
  EXPECT_EQ(first.ticket, 0u);
  EXPECT_EQ(second.ticket, 1u);
  auto waiting = std::async(std::launch::async, [&] { return push(*shard, 0, a, first, 1.0f); });
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  EXPECT_EQ(shard->report().tickets_done, 0u) << "a batch whose gradient is not applied is not done";
  ASSERT_TRUE(push(*shard, 1, b, second, 0.5f).ok());
  ASSERT_TRUE(waiting.get().ok());
  TrainingState s = shard->snapshot();
  EXPECT_EQ(s.version, 1u);
  EXPECT_EQ(s.weights, std::vector<float>(4, 0.25f));
  EXPECT_EQ(s.statistics, std::vector<float>{10.75f});
  EXPECT_EQ(shard->report().tickets_done, 2u);
}

TEST(Shard, ALostParticipantIsLeftOutAndItsBatchGivenAgain) {
  auto shard = make(Mode::Sync, 2);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  auto early = std::async(std::launch::async, [&] { return *shard->next(0, a); });
  Assignment lost = *shard->next(1, b), first = early.get();
  auto waiting = std::async(std::launch::async, [&] { return push(*shard, 0, a, first, 1.0f); });
  std::this_thread::sleep_for(20ms);  // it waits by then, most often; the other order must end the same way
  shard->leave(1, b, 2, 9.5, "nothing heard");
  ASSERT_TRUE(waiting.get().ok());
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 0.0f)) << "the mean of one";
  Assignment again = *shard->next(0, a);
  EXPECT_EQ(again.ticket, lost.ticket);
  EXPECT_EQ(again.participants, std::vector<uint64_t>{10});
  EXPECT_EQ(shard->report().members.at(1).state, 2);
  EXPECT_EQ(shard->report().members.at(1).seconds_silent, 9.5);
}

TEST(Shard, AWorkerThatComesLateJoinsTheNextRound) {
  auto shard = make(Mode::Sync, 1);
  uint64_t a = shard->join(0, 10);
  Assignment first = *shard->next(0, a);
  EXPECT_EQ(first.participants, std::vector<uint64_t>{10});
  uint64_t b = shard->join(1, 11);
  auto late = std::async(std::launch::async, [&] { return *shard->next(1, b); });
  EXPECT_EQ(late.wait_for(50ms), std::future_status::timeout);
  ASSERT_TRUE(push(*shard, 0, a, first, 0).ok());
  Assignment second = *shard->next(0, a);
  EXPECT_EQ(second.participants, (std::vector<uint64_t>{10, 11}));
  EXPECT_EQ(late.get().round, second.round);
}

TEST(Shard, ARoundDoesNotWaitForABackupWorker) {
  ShardOptions options{.mode = Mode::Sync, .expected_workers = 3, .gather = 10s, .backups = 1};
  auto shard = test::need(Shard::make(init_of(100), options));
  uint64_t pass[3];
  for (uint32_t w = 0; w < 3; ++w) pass[w] = shard->join(w, 10 + w);
  std::future<Assignment> asked[3];
  for (uint32_t w = 0; w < 3; ++w)
    asked[w] = std::async(std::launch::async, [&, w] { return *shard->next(w, pass[w]); });
  Assignment given[3];
  for (uint32_t w = 0; w < 3; ++w) given[w] = asked[w].get();
  auto first = std::async(std::launch::async, [&] { return push(*shard, 0, pass[0], given[0], 1.0f); });
  EXPECT_EQ(first.wait_for(50ms), std::future_status::timeout) << "two of three are needed";
  ASSERT_TRUE(push(*shard, 1, pass[1], given[1], 0.5f).ok());
  ASSERT_TRUE(first.get().ok());
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 0.25f)) << "the mean of the two";
  auto again = std::async(std::launch::async, [&] { return *shard->next(0, pass[0]); });
  const Assignment second = *shard->next(1, pass[1]);
  EXPECT_EQ(second.participants, (std::vector<uint64_t>{10, 11})) << "the slow one still computes";
  EXPECT_EQ(std::min(again.get().ticket, second.ticket), given[2].ticket) << "its batch is given again";
  ASSERT_TRUE(push(*shard, 2, pass[2], given[2], 9.0f).ok());
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 0.25f)) << "it came too late";
  EXPECT_EQ(shard->report().tickets_done, 2u);
  EXPECT_EQ(shard->report().images, 4u) << "and is not counted";
}

TEST(Shard, CompensatesTheDelayOfAGradient) {
  const auto weights_after = [](float compensation) {
    ShardOptions options{.mode = Mode::Async, .compensation = compensation};
    auto shard = test::need(Shard::make(init_of(100), options));
    const uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
    const Assignment first = *shard->next(0, a), second = *shard->next(1, b);
    Message message;
    shard->read(first, Numbers::Fp32, message, false, 0);
    shard->read(second, Numbers::Fp32, message, false, 1);
    EXPECT_TRUE(push(*shard, 0, a, first, 0.5f).ok());  // its weights are the present ones
    EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 0.5f));
    EXPECT_TRUE(push(*shard, 1, b, second, 0.5f).ok());
    return shard->snapshot().weights;
  };
  EXPECT_EQ(weights_after(0), std::vector<float>(4, 0.0f));
  EXPECT_EQ(weights_after(2), std::vector<float>(4, 0.25f)) << "0.5 + 2 * 0.25 * (0.5 - 1) = 0.25";
}

TEST(Shard, StaleHoldsBackWhoeverIsTooFarAhead) {
  auto shard = make(Mode::Stale, 2, 1);
  uint64_t fast = shard->join(0, 10), slow = shard->join(1, 11);
  Assignment held = *shard->next(1, slow);
  for (int i = 0; i < 2; ++i) {
    Assignment a = *shard->next(0, fast);
    ASSERT_TRUE(push(*shard, 0, fast, a, 0).ok());
  }
  auto ahead = std::async(std::launch::async, [&] { return shard->next(0, fast).ok(); });
  EXPECT_EQ(ahead.wait_for(50ms), std::future_status::timeout) << "two steps ahead, one is allowed";
  ASSERT_TRUE(push(*shard, 1, slow, held, 0).ok());
  EXPECT_TRUE(ahead.get());
}

TEST(Shard, StaleForgetsALostWorker) {
  auto shard = make(Mode::Stale, 2, 0);
  uint64_t fast = shard->join(0, 10), slow = shard->join(1, 11);
  ASSERT_TRUE(shard->next(1, slow).ok());
  ASSERT_TRUE(push(*shard, 0, fast, *shard->next(0, fast), 0).ok());
  auto ahead = std::async(std::launch::async, [&] { return shard->next(0, fast).ok(); });
  EXPECT_EQ(ahead.wait_for(50ms), std::future_status::timeout);
  shard->leave(1, slow, 2, 0, "");
  EXPECT_TRUE(ahead.get());
}

TEST(Shard, ARestartedWorkerReplacesItsFormerSelf) {
  auto shard = make(Mode::Async);
  uint64_t old_pass = shard->join(0, 10);
  Assignment a = *shard->next(0, old_pass);
  uint64_t pass = shard->join(0, 20);
  EXPECT_EQ(push(*shard, 0, old_pass, a, 1).code(), Code::Lost);
  EXPECT_EQ(shard->next(0, pass)->ticket, a.ticket) << "its batch is given again";
  shard->leave(0, old_pass, 2, 0, "late news");
  EXPECT_EQ(shard->report().members.at(0).state, 0) << "the former self's end is not the new one's";
}

TEST(Shard, ALossThatIsNoNumberChangesNothingAndIsReported) {
  auto shard = make(Mode::Async);
  uint64_t pass = shard->join(0, 10);
  ASSERT_TRUE(push(*shard, 0, pass, *shard->next(0, pass), 0.5f, std::nan("")).ok());
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 1.0f));
  EXPECT_EQ(shard->report().failure, "the loss became nan at batch 0");
  auto next = std::async(std::launch::async, [&] { return shard->next(0, pass).status(); });
  shard->stop(invalid("diverged"));
  EXPECT_EQ(next.get().message(), "diverged");
}

TEST(Shard, TheLastBatchEndsTheRunForEverybody) {
  auto shard = make(Mode::Async, 2, 0, 1);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  Assignment only = *shard->next(0, a);
  auto other = std::async(std::launch::async, [&] { return shard->next(1, b)->finished; });
  EXPECT_EQ(other.wait_for(50ms), std::future_status::timeout) << "it may be needed if worker 0 is lost";
  ASSERT_TRUE(push(*shard, 0, a, only, 0).ok());
  EXPECT_TRUE(other.get());
  EXPECT_TRUE(shard->next(0, a)->finished);
}

TEST(Shard, GradientsOfAnotherSizeAreRefused) {
  auto shard = make(Mode::Async);
  uint64_t pass = shard->join(0, 10);
  Push p;
  p.gradients = "12345678";
  EXPECT_EQ(shard->push(0, pass, p).status().code(), Code::Corrupt);
}

TEST(Shard, ADescriptionThatContradictsItselfIsRefused) {
  Init init = init_of(10);
  init.optimizer.size = 3;
  EXPECT_EQ(Shard::make(init, {}).status().code(), Code::Corrupt);
  init = init_of(10);
  init.state.weights.pop_back();
  EXPECT_EQ(Shard::make(init, {}).status().code(), Code::Corrupt);
  init = init_of(10);
  init.optimizer.config.name = "adam2";
  EXPECT_FALSE(Shard::make(init, {}).ok());
  init = init_of(10);
  init.optimizer.runs.push_back({2, 4});
  EXPECT_EQ(Shard::make(init, {}).status().code(), Code::Corrupt);
  init = init_of(10);
  init.state.optimizer = {{1}, {2}, {3}};
  EXPECT_EQ(Shard::make(init, {}).status().code(), Code::Corrupt);
  init = init_of(10);
  init.state.average = init.state.weights;
  init.state.averaged = 1;
  EXPECT_EQ(Shard::make(init, {}).status().code(), Code::Corrupt) << "of a run without momenta";
  init.state.optimizer = {{0, 0, 0, 0}};
  EXPECT_TRUE(Shard::make(init, {}).ok());
}

// A shard restored from a snapshot continues exactly.
TEST(Shard, ASnapshotContinuesBitIdentically) {
  Init init = init_of(20);
  init.optimizer = plan_of({.nesterov = true, .weight_decay = 0.01}, 4);
  auto run = [](Shard& shard, int steps) {
    uint64_t pass = shard.join(0, 10);
    for (int i = 0; i < steps; ++i) {
      Assignment a = *shard.next(0, pass);
      ASSERT_TRUE(push(shard, 0, pass, a, 0.01f * static_cast<float>(a.ticket + 1)).ok());
    }
  };
  auto whole = std::move(*Shard::make(init, {})), half = std::move(*Shard::make(init, {}));
  run(*whole, 10);
  run(*half, 5);
  init.state = half->snapshot();
  auto rest = std::move(*Shard::make(init, {}));
  run(*rest, 5);
  EXPECT_EQ(whole->snapshot().weights, rest->snapshot().weights);
  EXPECT_EQ(whole->snapshot().optimizer, rest->snapshot().optimizer);
  EXPECT_EQ(whole->snapshot().version, rest->snapshot().version);
}

// Each gradient is of weights that all others have changed since, and so are the statistics that its worker
// read.
TEST(Shard, StatisticsStayAMeanOfTheBatchesWithAnyNumberOfWorkers) {
  for (float momentum : {0.1f, 0.4f, 1.0f}) {
    for (uint32_t workers : {1, 2, 8, 24, 64}) {
      Init init = init_of(100000);
      init.state.statistics = {0};
      init.keep = {1 - momentum};
      auto shard = std::move(*Shard::make(init, {}));
      std::vector<uint64_t> pass;
      std::vector<Assignment> held;
      for (uint32_t w = 0; w < workers; ++w) {
        pass.push_back(shard->join(w, 1 + w));
        held.push_back(*shard->next(w, pass[w]));
      }
      for (uint32_t i = 0; i < 400; ++i) {  // in turn: a step is workers - 1 updates old
        const uint32_t w = i % workers;
        ASSERT_TRUE(push(*shard, w, pass[w], held[w], momentum * (3 + (i % 2 ? 0.5f : -0.5f))).ok());
        held[w] = *shard->next(w, pass[w]);
        const float value = shard->snapshot().statistics[0];
        ASSERT_GE(value, 0) << momentum << ", " << workers << " workers, step " << i;
        ASSERT_LE(value, 3.5f) << momentum << ", " << workers << " workers, step " << i;
      }
      EXPECT_NEAR(shard->snapshot().statistics[0], 3, 0.5f * momentum + 0.01f) << workers;
    }
  }
}

TEST(Shard, ABatchInPiecesUpdatesTheStatisticsOncePerPiece) {
  Init init = init_of(10);
  init.state.statistics = {8};
  init.keep = {0.5f};
  auto shard = std::move(*Shard::make(init, {}));
  uint64_t pass = shard->join(0, 1);
  Assignment a = *shard->next(0, pass);
  std::vector<float> gradient(4, 0.0f), added = {3};
  Push p{.ticket = a.ticket, .rate = 1, .loss = 1, .images = 2, .updates = 3};
  p.gradients = {reinterpret_cast<char*>(gradient.data()), 16};
  p.statistics = {reinterpret_cast<char*>(added.data()), 4};
  ASSERT_TRUE(shard->push(0, pass, p).ok());
  EXPECT_EQ(shard->snapshot().statistics[0], 8 * 0.125f + 3);
}

// It pushed, and was lost while the round still waited for another: its gradient counts, once.
TEST(Shard, AWorkerLostAfterItsPushIsCountedOnce) {
  auto shard = make(Mode::Sync, 2, 0, 4);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  auto early = std::async(std::launch::async, [&] { return *shard->next(0, a); });
  Assignment other = *shard->next(1, b), first = early.get();
  auto pushed = std::async(std::launch::async, [&] { return push(*shard, 0, a, first, 1.0f); });
  while (shard->report().steps == 0) std::this_thread::yield();
  shard->leave(0, a, 2, 1, "lost");
  EXPECT_EQ(pushed.get().code(), Code::Lost);
  ASSERT_TRUE(push(*shard, 1, b, other, 0.5f).ok());
  EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 0.25f)) << "the mean of both";
  EXPECT_EQ(shard->report().tickets_done, 2u);
  std::set<uint64_t> rest;
  for (int i = 0; i < 2; ++i) {
    Assignment next = *shard->next(1, b);
    rest.insert(next.ticket);
    ASSERT_TRUE(push(*shard, 1, b, next, 0).ok());
  }
  EXPECT_EQ(rest, (std::set<uint64_t>{2, 3})) << "neither batch is given again";
  EXPECT_TRUE(shard->finished());
  EXPECT_EQ(shard->report().images, 8u);
}

// The former self took part in the round; the new one will not push for it.
TEST(Shard, ARoundDoesNotWaitForARestartedWorker) {
  auto shard = make(Mode::Sync, 2);
  uint64_t a = shard->join(0, 10), b = shard->join(1, 11);
  auto early = std::async(std::launch::async, [&] { return *shard->next(0, a); });
  Assignment other = *shard->next(1, b), first = early.get();
  uint64_t again = shard->join(0, 20);
  auto next = std::async(std::launch::async, [&] { return shard->next(0, again).status(); });
  auto pushed = std::async(std::launch::async, [&] { return push(*shard, 1, b, other, 0.5f); });
  ASSERT_EQ(pushed.wait_for(20s), std::future_status::ready);
  EXPECT_TRUE(pushed.get().ok());
  shard->stop(invalid("the test is over"));
  EXPECT_EQ(next.get().message(), "the test is over");
}

TEST(Shard, ABatchThatItWasNotGivenIsNotApplied) {
  auto shard = make(Mode::Async);
  uint64_t pass = shard->join(0, 10);
  Assignment a = *shard->next(0, pass);
  ASSERT_TRUE(push(*shard, 0, pass, a, 0.5f).ok());
  EXPECT_EQ(push(*shard, 0, pass, a, 0.5f).code(), Code::Corrupt) << "the same once more";
  EXPECT_EQ(shard->snapshot().version, 1u);
}

TEST(Shard, AGradientThatIsNotFiniteChangesNothingAndIsReported) {
  for (float wrong : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    auto shard = make(Mode::Async);
    uint64_t pass = shard->join(0, 10);
    ASSERT_TRUE(push(*shard, 0, pass, *shard->next(0, pass), wrong).ok());
    EXPECT_EQ(shard->snapshot().weights, std::vector<float>(4, 1.0f));
    EXPECT_EQ(shard->report().failure, "a gradient became infinite or not a number at batch 0");
  }
}

// A worker prepares what was announced while it computes: with the same workers it is what it gets.
TEST(Shard, TheNextBatchIsNamedAhead) {
  for (Mode mode : {Mode::Async, Mode::Sync, Mode::Stale}) {
    auto shard = make(mode, 3, 1, 30);
    std::vector<std::future<int>> workers;
    for (uint32_t w = 0; w < 3; ++w) {
      const uint64_t pass = shard->join(w, 1 + w);
      workers.push_back(std::async(std::launch::async, [&shard, w, pass] {
        int wrong = 0;
        Assignment a = *shard->next(w, pass);
        while (!a.finished) {
          EXPECT_TRUE(push(*shard, w, pass, a, 0).ok());
          Assignment next = *shard->next(w, pass);
          wrong += !next.finished && a.then != a.ticket && next.ticket != a.then;
          a = next;
        }
        return wrong;
      }));
    }
    int wrong = 0;
    for (auto& w : workers) wrong += w.get();
    // At the end a fast one may take what was meant for another.
    EXPECT_LE(wrong, mode == Mode::Sync ? 0 : 3);
    EXPECT_TRUE(shard->finished());
  }
}

// What is announced to a worker of its next batch holds as long as nobody is in need of it.
TEST(Tickets, AReservationHoldsUntilNothingElseIsLeft) {
  Tickets t(5);
  EXPECT_EQ(t.take(0), 0u);
  EXPECT_EQ(t.reserve(0), 1u);
  EXPECT_EQ(t.take(1), 2u);
  EXPECT_EQ(t.reserve(1), 3u);
  EXPECT_TRUE(t.finish(1, 2));
  EXPECT_EQ(t.take(1), 3u);
  EXPECT_EQ(t.reserve(1), 4u);
  EXPECT_TRUE(t.finish(1, 3));
  EXPECT_EQ(t.take(1), 4u);
  EXPECT_FALSE(t.reserve(1)) << "1 is another's";
  EXPECT_TRUE(t.finish(1, 4));
  EXPECT_EQ(t.take(1), 1u) << "nothing else is left";
  EXPECT_FALSE(t.take(0));
  EXPECT_EQ(state_of(t), (TrainingState{.next = 5, .again = {0, 1}}));
}

}  // namespace
}  // namespace radl::engine::cluster
