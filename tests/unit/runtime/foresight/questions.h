// One training, its profile, and clusters to choose from, for the tests of forecasts.
#pragma once

#include <string>

#include "runtime/foresight/recommend.h"

namespace radl::foresight {

inline constexpr const char* kFamily = "resnet20 on cifar10";
inline constexpr const char* kWork = "5d1c";

inline MeasuredProfile profile(const std::string& machine = "ec2 c5.xlarge", double cores = 4) {
  MeasuredProfile one;
  one.family = kFamily;
  one.work = kWork;
  one.machine = machine;
  one.cores = cores;
  one.node.steps.points = {{32, 0.0495}, {128, 0.192}, {512, 0.762}};
  one.node.parameter_bytes = 1.1e6;
  one.node.spread = 0.05;
  one.memory_bytes = 2e8;
  one.memory_bytes_per_image = 1e6;
  one.taken_at = "2026-11-22T10:00:00Z";
  return one;
}

inline TrainingFacts facts() {
  TrainingFacts one;
  one.family = kFamily;
  one.work = {kWork, 2.5e8, 1.1e6, 1, 1e6};
  one.images = 50000;
  one.test_images = 10000;
  one.epochs = 10;
  one.batch = 128;
  return one;
}

inline OfferedType offer(const std::string& name, double cores, double usd, double gib = 8) {
  OfferedType one;
  one.name = name;
  one.machine = {"ec2 " + name, cores, gib * 1073741824, 1.25e9, 0, false};
  if (usd >= 0) one.per_hour = Money::of(usd);
  return one;
}

inline RecommendInput input() {
  RecommendInput one;
  one.facts = facts();
  one.workers = {offer("c5.xlarge", 4, 0.192), offer("c5.4xlarge", 16, 0.768)};
  one.sizes = {1, 2, 4, 8};
  one.exchanges = {Exchange::Ring, Exchange::AsyncServer};
  one.startup = banded(90, 1.5, Source::Guessed, "");
  return one;
}

inline WorkModel model(const Calibration& calibration) { return WorkModel(calibration, facts()); }

// Runs that take a third longer than the formulas say, each with some noise.
inline Calibration with_runs(int count) {
  Calibration calibration{{profile()}, {}, {}};
  for (int i = 0; i < count; ++i) {
    TrainingRun run;
    run.family = kFamily;
    run.work = kWork;
    run.work = kWork;
    run.machine = "ec2 c5.xlarge";
    run.workers = 1 + i % 4;
    run.batch = 128;
    run.analytic_seconds = 1000;
    run.seconds = 1330 * (1 + 0.02 * (i % 3 - 1));
    calibration.runs.push_back(run);
  }
  return calibration;
}

}  // namespace radl::foresight
