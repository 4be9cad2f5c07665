// The analytic step: worked figures, and what must hold whatever the figures are.
#include "runtime/foresight/step_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/foresight/run_model.h"

namespace radl::foresight {
namespace {

// 850 images/s and 2 ms a step, 0.66 million parameters.
NodeProfile node_profile() {
  NodeProfile one;
  one.steps.points = {{100, 100 / 850.0 + 0.002}, {200, 200 / 850.0 + 0.002}};
  one.parameter_bytes = 2640000;
  one.backward_share = 0.66;
  return one;
}

// A batch of 128 in all, 450 Mbit/s, 0.5 ms.
StepQuestion question(Exchange exchange, int workers, double batch_in_all = 128) {
  StepQuestion one;
  one.exchange = exchange;
  one.workers = workers;
  one.batch = batch_in_all / workers;
  one.fabric = {450e6, 0.0005, 0, 1, 0.95};
  return one;
}

double milliseconds(const StepQuestion& asked) {
  auto step = step_anatomy(node_profile(), asked);
  EXPECT_TRUE(step);
  return step ? 1000 * step->seconds : 0;
}

TEST(StepModel, WorkedFigures) {
  EXPECT_NEAR(milliseconds(question(Exchange::Alone, 1)), 152.6, 0.05);
  EXPECT_NEAR(milliseconds(question(Exchange::Ring, 2)), 124.7, 0.05);
  EXPECT_NEAR(milliseconds(question(Exchange::Ring, 4)), 111.55, 0.05);
  EXPECT_NEAR(milliseconds(question(Exchange::Ring, 8)), 106.5, 0.05);
  StepQuestion server = question(Exchange::SyncServer, 8);
  server.fabric.server_bits_per_second = 1e9;
  EXPECT_NEAR(milliseconds(server), 359.7, 0.05);
}

TEST(StepModel, AnAsynchronousServerIsFullFromSixWorkersOn) {
  auto updates = [](int workers) {
    StepQuestion asked = question(Exchange::AsyncServer, workers, 128.0 * workers);
    return workers / step_anatomy(node_profile(), asked)->seconds;
  };
  EXPECT_LT(updates(5), 20.22);
  for (int workers : {6, 7, 50}) EXPECT_NEAR(updates(workers), 20.24, 0.05);
  EXPECT_EQ(step_anatomy(node_profile(), question(Exchange::AsyncServer, 50, 6400))->bound,
            StepBound::Server);
}

TEST(StepModel, HalvingTakesFewerMessagesOfTheSameBytes) {
  auto ring = step_anatomy(node_profile(), question(Exchange::Ring, 8)),
       halving = step_anatomy(node_profile(), question(Exchange::HalvingDoubling, 8));
  EXPECT_EQ(ring->bandwidth, halving->bandwidth);
  EXPECT_NEAR(ring->latency / halving->latency, 14.0 / 6, 1e-9);
}

TEST(StepModel, OverlapHidesAtMostTheBackwardPart) {
  StepQuestion asked = question(Exchange::Ring, 4, 512);
  asked.overlap = 1;
  auto step = step_anatomy(node_profile(), asked);
  EXPECT_LT(step->seconds, milliseconds(question(Exchange::Ring, 4, 512)) / 1000);
  asked.fabric.round_trip_seconds = 10;
  auto far = step_anatomy(node_profile(), asked);
  EXPECT_NEAR(far->hidden, 0.66 * (far->compute + far->fixed), 1e-9);
  EXPECT_EQ(far->bound, StepBound::Latency);
}

TEST(StepModel, LocalStepsDivideTheExchange) {
  StepQuestion asked = question(Exchange::Ring, 4);
  auto each = step_anatomy(node_profile(), asked);
  asked.local_steps = 8;
  auto eighth = step_anatomy(node_profile(), asked);
  EXPECT_NEAR(eighth->bandwidth + eighth->latency, (each->bandwidth + each->latency) / 8, 1e-12);
}

TEST(StepModel, ServersShareTheLoad) {
  StepQuestion asked = question(Exchange::SyncServer, 8);
  const double one = milliseconds(asked);
  asked.fabric.servers = 4;
  EXPECT_LT(milliseconds(asked), one);
}

TEST(StepModel, TheSlowestOfManyIsWaitedForButNotByAsynchronousWorkers) {
  NodeProfile uneven = node_profile();
  uneven.spread = 0.1;
  EXPECT_GT(step_anatomy(uneven, question(Exchange::Ring, 4))->straggler, 0);
  EXPECT_EQ(step_anatomy(uneven, question(Exchange::AsyncServer, 4))->straggler, 0);
  EXPECT_EQ(expected_maximum(1), 0);
  EXPECT_NEAR(expected_maximum(2), 0.564, 0.03);
  EXPECT_NEAR(expected_maximum(10), 1.539, 0.02);
  EXPECT_NEAR(expected_maximum(100), 2.508, 0.02);
}

TEST(StepModel, ALineWithABreak) {
  StepLine line;
  line.points = {{100, 1}, {200, 2}, {400, 8}};
  EXPECT_NEAR(line.seconds(150), 1.5, 1e-12);
  EXPECT_NEAR(line.seconds(300), 5, 1e-12);
  EXPECT_NEAR(line.seconds(600), 14, 1e-12);
  EXPECT_NEAR(line.seconds(50), 0.5, 1e-12);
  EXPECT_EQ(line.fixed(), 0);
}

TEST(StepModel, WhatDoesNotFitOrIsNotKnownIsNoNumber) {
  NodeProfile small = node_profile();
  small.largest_batch = 64;
  EXPECT_FALSE(step_anatomy(small, question(Exchange::Alone, 1)));
  EXPECT_TRUE(step_anatomy(small, question(Exchange::Ring, 2)));
  StepQuestion unlinked = question(Exchange::Ring, 2);
  unlinked.fabric.bits_per_second = 0;
  EXPECT_FALSE(step_anatomy(node_profile(), unlinked));
  EXPECT_FALSE(step_anatomy(NodeProfile{}, question(Exchange::Alone, 1)));
  EXPECT_FALSE(step_anatomy(node_profile(), question(Exchange::Ring, 1)));
}

TEST(RunModel, BilledByTheProvidersClock) {
  const Money price = Money::of(1.718);
  EXPECT_EQ(billed(price, 30, {}), billed(price, 60, {}));
  EXPECT_EQ(billed(price, 60, {}).micros, 28634);
  EXPECT_EQ(billed(Money::of(1), 3601, {3600, 60}).micros, 2000000);
}

TEST(RunModel, SpotMachinesAreTakenBack) {
  EXPECT_EQ(with_interruptions(1000, {0, 4, 60, 120}), 1000);
  EXPECT_NEAR(*with_interruptions(1000, {0.05, 4, 600, 300}), 1000 / (1 - 0.05 * 4 / 3600 * 600), 1e-9);
  EXPECT_FALSE(with_interruptions(1000, {10, 100, 600, 300}));
}

TEST(RunModel, SumsKnowTheirWeakestPart) {
  const Banded sure = banded(100, 1.1, Source::Measured, ""), guess = banded(10, 2, Source::Guessed, "");
  const Banded sum = sum_of({sure, guess});
  EXPECT_EQ(sum.value, 110);
  EXPECT_EQ(sum.source, Source::Guessed);
  EXPECT_NEAR(sum.high - sum.value, std::hypot(10.0, 10.0), 1e-9);
  EXPECT_FALSE(sum_of({sure, Banded{}}).known());
}

}  // namespace
}  // namespace radl::foresight
