// What runs teach of computing, bytes and round trips.
#include "runtime/foresight/exchange_factors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace radl::foresight {
namespace {

struct Cluster {
  double compute, bytes, latency;  // seconds of a step
};

MeasuredRun run(const Cluster& cluster, const ExchangeFactors& truth, bool profiled = false) {
  auto seconds = [cluster](const ExchangeFactors& by) {
    return cluster.compute * by.compute + cluster.bytes * by.bytes + cluster.latency * by.round_trips;
  };
  return {seconds, seconds(truth), profiled};
}

const std::vector<Cluster> kClusters = {
    {0.02, 0.03, 0.001}, {0.02, 0.03, 0.05}, {0.2, 0.03, 0.01}, {0.05, 0.09, 0.01}};

std::vector<MeasuredRun> runs(const ExchangeFactors& truth, bool profiled = false, int times = 1) {
  std::vector<MeasuredRun> all;
  for (int i = 0; i < times; ++i)
    for (const Cluster& cluster : kClusters) all.push_back(run(cluster, truth, profiled));
  return all;
}

TEST(ExchangeFactors, NothingIsLearntFromNothing) { EXPECT_TRUE(fit_factors({}).none()); }

TEST(ExchangeFactors, FewRunsShowWhichPartIsOff) {
  const ExchangeFactors truth{1, 0.6, 0.5}, found = fit_factors(runs(truth, true, 4));
  EXPECT_NEAR(found.compute, 1, 0.03);
  EXPECT_NEAR(found.bytes, 0.6, 0.05);
  EXPECT_NEAR(found.round_trips, 0.5, 0.05);
  // And hold for a cluster that is like none of them.
  const MeasuredRun far = run({0.02, 0.01, 0.4}, truth);
  EXPECT_NEAR(far.predicted(found) / far.seconds, 1, 0.08);
}

TEST(ExchangeFactors, RunsAsPredictedTeachNothing) {
  const ExchangeFactors found = fit_factors(runs({}));
  EXPECT_NEAR(found.compute, 1, 1e-6);
  EXPECT_NEAR(found.bytes, 1, 1e-6);
  EXPECT_NEAR(found.round_trips, 1, 1e-6);
}

// A small batch shows little of computing: what it takes longer is not put down to what was measured apart.
TEST(ExchangeFactors, WhatAProfileMeasuredIsKept) {
  const Cluster small{0.02, 0.03, 0.001};
  MeasuredRun one = run(small, {});
  one.seconds *= 1.3;
  one.profiled = true;
  const ExchangeFactors profiled = fit_factors({one});
  one.profiled = false;
  const ExchangeFactors scaled = fit_factors({one});
  EXPECT_LT(profiled.compute, 1.02);
  EXPECT_GT(profiled.bytes, 1.3);
  EXPECT_GT(scaled.compute, 1.05);
}

TEST(ExchangeFactors, OneWildRunAmongManyHardlyCounts) {
  std::vector<MeasuredRun> all = runs({1, 0.6, 0.5}, true, 5);
  all.back().seconds *= 8;
  const ExchangeFactors found = fit_factors(all);
  EXPECT_NEAR(found.bytes, 0.6, 0.06);
  EXPECT_NEAR(found.round_trips, 0.5, 0.06);
}

}  // namespace
}  // namespace radl::foresight
