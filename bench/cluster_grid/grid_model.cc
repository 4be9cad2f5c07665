// Ours, for bench/cluster_grid/run.py: what the model says of clusters that it has not seen.
//
// Standard input: {"profiles": [...], "runs": [...], "asked": [...]}; profiles and runs as in an exported
// calibration but for analytic_seconds, which is filled in here as it is when a run is kept. Each asked row:
// {family, exchange, workers, batch, latency_ms, bits_per_second, images}. Standard output: "seconds low
// high" of an epoch for each.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/foresight/forecast.h"

namespace radl::foresight {
namespace {

constexpr const char* kMachine = "paced";

struct Asked {
  TrainingFacts facts;
  MachineFacts machine;
  double round_trip_seconds = 0;
};

Asked asked(const nlohmann::json& row) {
  Asked one;
  one.facts.family = one.facts.work.digest = row.at("family");
  one.facts.exchange = exchange_named(row.at("exchange").get<std::string>()).value();
  one.facts.workers = row.at("workers");
  one.facts.servers =
      one.facts.exchange == Exchange::SyncServer || one.facts.exchange == Exchange::AsyncServer ? 1 : 0;
  one.facts.batch = row.at("batch");
  one.facts.images = row.at("images");
  one.machine.kind = kMachine;
  one.machine.cores = 1;
  one.machine.bits_per_second = row.at("bits_per_second");
  one.round_trip_seconds = row.at("latency_ms").get<double>() / 1000;
  return one;
}

MeasuredProfile profile_of(const nlohmann::json& json) {
  MeasuredProfile profile;
  profile.family = profile.work = json.at("family");
  profile.machine = kMachine;
  profile.cores = 1;
  profile.taken_at = "2026-01-01";
  for (const auto& point : json.at("points")) profile.node.steps.points.push_back({point.at(0), point.at(1)});
  profile.node.parameter_bytes = json.at("parameter_bytes");
  profile.node.spread = json.at("spread");
  return profile;
}

// As runtime/cli keeps a run that came to its end.
TrainingRun run_of(const nlohmann::json& row, const WorkModel& unlearnt) {
  const Asked one = asked(row);
  TrainingRun run;
  run.family = run.work = one.facts.family;
  run.machine = kMachine;
  run.exchange = exchange_name(one.facts.exchange);
  run.workers = one.facts.workers;
  run.servers = one.facts.servers;
  run.batch = one.facts.batch;
  run.latency_ms = one.round_trip_seconds * 1000;
  run.epochs = 1;
  run.images = one.facts.images;
  run.bits_per_second = one.machine.bits_per_second;
  run.seconds = row.at("seconds");
  run.analytic_seconds = unlearnt.forecast(one.facts, one.machine, one.round_trip_seconds).analytic_seconds;
  return run;
}

int answer() {
  const nlohmann::json question = nlohmann::json::parse(std::cin);
  Calibration calibration;
  for (const auto& profile : question.at("profiles")) calibration.profiles.push_back(profile_of(profile));
  Calibration known = calibration;
  for (const auto& row : question.at("runs"))
    known.runs.push_back(run_of(row, WorkModel(calibration, asked(row).facts)));
  std::map<std::string, WorkModel> models;
  for (const auto& row : question.at("asked")) {
    const Asked one = asked(row);
    const auto model = models.try_emplace(one.facts.family, known, one.facts).first;
    const TrainingForecast said = model->second.forecast(one.facts, one.machine, one.round_trip_seconds);
    fmt::print("{} {} {}\n", said.epoch.value, said.epoch.low, said.epoch.high);
  }
  return 0;
}

}  // namespace
}  // namespace radl::foresight

int main() {
  try {
    return radl::foresight::answer();
  } catch (const std::exception& wrong) {
    fmt::print(stderr, "grid_model: {}\n", wrong.what());
    return 1;
  }
}
