// Ours, for bench/foresight/run.py.
//   foresight_bench rows       the rows of the study, "nodes batch latency seconds" a line
//   foresight_bench predict    from standard input: rows to learn from, an empty line, questions; seconds of
//   each foresight_bench speed      JSON lines: 256,000 candidates, a training on 10,000 runs
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "runtime/foresight/epoch_model.h"
#include "runtime/foresight/published_data.h"
#include "runtime/foresight/recommend.h"

namespace radl::foresight {
namespace {

constexpr const char* kFamily = "resnet20 on cifar10";
constexpr int kTypes = 1000, kSizes = 64, kRuns = 10000, kRounds = 5;

int print_rows() {
  for (const StudyRow& row : study_rows("mnist"))
    if (row.seconds) fmt::print("{} {} {} {}\n", row.machines, row.batch, row.latency_ms, *row.seconds);
  return 0;
}

int predict() {
  std::vector<EpochTime> rows;
  std::optional<EpochModel> model;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    EpochTime one;
    if (line.empty()) {
      auto fitted = EpochModel::fit(rows);
      if (!fitted.ok()) return 1;
      model = std::move(*fitted);
      continue;
    }
    words >> one.nodes >> one.batch >> one.latency_ms;
    if (!model) {
      words >> one.seconds;
      rows.push_back(one);
      continue;
    }
    auto estimate = model->predict(one.nodes, one.batch, one.latency_ms);
    fmt::print("{} {} {}\n", estimate.ok() ? estimate->seconds : NAN, estimate.ok() ? estimate->low : NAN,
               estimate.ok() ? estimate->high : NAN);
  }
  return 0;
}

Calibration known(int runs) {
  Calibration calibration;
  MeasuredProfile profile;
  profile.family = profile.work = kFamily;
  profile.machine = "local";
  profile.cores = 2;
  profile.node.steps.points = {{32, 0.05}, {128, 0.19}, {512, 0.76}};
  profile.node.parameter_bytes = 1.1e6;
  calibration.profiles = {profile};
  for (int i = 0; i < runs; ++i) {
    TrainingRun run;
    run.family = run.work = kFamily;
    run.workers = 1 + i % 16;
    run.batch = 32 << (i % 5);
    run.latency_ms = i % 7;
    run.analytic_seconds = 1000;
    run.seconds = 1000 * (1 + 0.1 * std::sin(i));
    calibration.runs.push_back(run);
  }
  return calibration;
}

RecommendInput large_question() {
  RecommendInput input;
  input.facts.family = input.facts.work.digest = kFamily;
  input.facts.images = 50000;
  input.facts.epochs = 10;
  input.startup = banded(90, 2, Source::Guessed, "");
  for (int i = 0; i < kTypes; ++i) {
    OfferedType type;
    type.name = fmt::format("type{}", i);
    type.machine = {"ec2 " + type.name, 1.0 + i % 96, 64e9, 1e9 * (1 + i % 25), 0, false};
    type.per_hour = Money{(1 + i % 96) * int64_t{48000} + i % 13 * 100, "USD"};
    input.workers.push_back(std::move(type));
  }
  input.servers = {input.workers[8]};
  for (int i = 1; i <= kSizes; ++i) input.sizes.push_back(i);
  input.exchanges = {Exchange::Ring, Exchange::HalvingDoubling, Exchange::SyncServer, Exchange::AsyncServer};
  return input;
}

template <class Work>
double best_of(const Work& work) {
  double best = INFINITY;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

void print_line(const std::string& name, double ours, double goal) {
  fmt::print("{}\n", nlohmann::ordered_json{{"name", name},
                                            {"ours", ours},
                                            {"peer", nullptr},
                                            {"unit", "s"},
                                            {"ratio", nullptr},
                                            {"goal", goal}}
                         .dump());
}

int speed() {
  const RecommendInput input = large_question();
  const WorkModel model(known(10), input.facts);
  size_t candidates = 0;
  const double recommended = best_of([&] { candidates = recommend(input, model)->candidates.size(); });
  print_line(fmt::format("recommend-{}-candidates", candidates), recommended, 0.05);
  const Calibration calibration = known(kRuns);
  print_line("learn-10000-runs", best_of([&] { WorkModel(calibration, input.facts); }), 1);
  const Calibration plans = known(100);
  print_line("learn-100-runs", best_of([&] { WorkModel(plans, input.facts); }), 0.005);
  return 0;
}

}  // namespace
}  // namespace radl::foresight

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "rows") return radl::foresight::print_rows();
  if (what == "predict") return radl::foresight::predict();
  if (what == "speed") return radl::foresight::speed();
  std::fputs("usage: foresight_bench rows | predict | speed\n", stderr);
  return 2;
}
