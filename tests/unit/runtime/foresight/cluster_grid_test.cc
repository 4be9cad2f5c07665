// Times of clusters that nobody measured, on a grid that was (tables/cluster_grid.csv, by
// bench/cluster_grid/measure.py: real processes behind a delaying proxy, with workers whose computing is
// paced).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "runtime/foresight/forecast.h"
#include "tests/unit/runtime/foresight/tables.h"

namespace radl::foresight {
namespace {

constexpr const char* kMachine = "paced";
const std::map<std::string, double> kParameterBytes = {{"resnet20", 272474 * 4}, {"resnet44", 661338 * 4}};

struct Row {
  TrainingFacts facts;
  MachineFacts machine;
  double round_trip = 0, seconds = 0;
  int cluster = 0;  // number of its (model, exchange, size, distance)
};

std::vector<Row> grid() {
  std::vector<Row> rows;
  std::map<std::string, int> clusters;
  for (const TableRow& from : table("cluster_grid.csv")) {
    Row row;
    row.facts.family = from.at("family");
    row.facts.exchange = exchange_named(from.at("exchange")).value();
    row.facts.workers = std::stoi(from.at("workers"));
    row.facts.servers = has_server(row.facts.exchange) ? 1 : 0;
    row.facts.batch = std::stod(from.at("batch"));
    row.facts.images = std::stod(from.at("images"));
    row.machine.kind = kMachine;
    row.machine.cores = 1;
    row.machine.bits_per_second = std::stod(from.at("bits_per_second"));
    row.round_trip = std::stod(from.at("latency_ms")) / 1000;
    row.seconds = std::stod(from.at("seconds"));
    const std::string name =
        from.at("family") + from.at("exchange") + from.at("workers") + "/" + from.at("latency_ms");
    row.cluster = clusters.try_emplace(name, static_cast<int>(clusters.size())).first->second;
    rows.push_back(row);
  }
  return rows;
}

// What `radlc profile` would have measured: three batches on one machine.
Calibration profiles(const std::vector<Row>& rows) {
  Calibration calibration;
  for (const auto& [family, bytes] : kParameterBytes) {
    MeasuredProfile profile;
    profile.family = family;
    profile.machine = kMachine;
    profile.cores = 1;
    profile.taken_at = "2026-11-23";
    profile.node.parameter_bytes = bytes;
    profile.node.spread = 0.05;
    for (const Row& row : rows) {
      const double batch = row.facts.batch;
      if (row.facts.family == family && row.facts.exchange == Exchange::Alone &&
          (batch == 16 || batch == 128 || batch == 512))
        profile.node.steps.points.push_back({batch, row.seconds * batch / row.facts.images});
    }
    calibration.profiles.push_back(profile);
  }
  return calibration;
}

TrainingRun as_run(const Row& row, const FamilyModel& before) {
  TrainingRun run;
  run.family = row.facts.family;
  run.machine = kMachine;
  run.exchange = exchange_name(row.facts.exchange);
  run.workers = row.facts.workers;
  run.servers = row.facts.servers;
  run.batch = row.facts.batch;
  run.latency_ms = row.round_trip * 1000;
  run.bits_per_second = row.machine.bits_per_second;
  run.images = row.facts.images;
  run.epochs = 1;
  run.seconds = row.seconds;
  run.analytic_seconds = before.forecast(row.facts, row.machine, row.round_trip).analytic_seconds;
  return run;
}

struct Errors {
  double mean = 0, worst = 0, covered = 0;  // covered: share within the 80% band
  int rows = 0;
};

// Each row where `asked`, from profiles and the rows where `known`.
Errors errors(const std::vector<Row>& rows, const std::function<bool(const Row&)>& known,
              const std::function<bool(const Row&)>& asked) {
  const Calibration before = profiles(rows);
  Errors sum;
  for (const auto& [family, bytes] : kParameterBytes) {
    const FamilyModel unlearnt(before, family);
    Calibration after = before;
    for (const Row& row : rows)
      if (row.facts.family == family && row.facts.exchange != Exchange::Alone && known(row))
        after.runs.push_back(as_run(row, unlearnt));
    const FamilyModel model(after, family);
    for (const Row& row : rows) {
      if (row.facts.family != family || row.facts.exchange == Exchange::Alone || !asked(row)) continue;
      const auto said = model.forecast(row.facts, row.machine, row.round_trip).epoch;
      const double error = std::fabs(said.value / row.seconds - 1);
      sum.mean += error;
      sum.worst = std::max(sum.worst, error);
      sum.covered += said.low <= row.seconds && row.seconds <= said.high ? 1 : 0;
      ++sum.rows;
    }
  }
  sum.mean /= sum.rows;
  sum.covered /= sum.rows;
  return sum;
}

Errors together(const Errors& a, const Errors& b) {
  const int rows = a.rows + b.rows;
  return {(a.mean * a.rows + b.mean * b.rows) / rows, std::max(a.worst, b.worst),
          (a.covered * a.rows + b.covered * b.rows) / rows, rows};
}

TEST(ClusterGrid, AProfileAloneSaysMostOfIt) {
  const Errors found = errors(
      grid(), [](const Row&) { return false; }, [](const Row&) { return true; });
  EXPECT_LE(found.mean, 0.10);
  EXPECT_GT(found.rows, 600);
}

TEST(ClusterGrid, ClustersNeverMeasured) {
  constexpr int kFolds = 5;
  Errors all;
  for (int fold = 0; fold < kFolds; ++fold)
    all = together(all, errors(
                            grid(), [&](const Row& row) { return row.cluster % kFolds != fold; },
                            [&](const Row& row) { return row.cluster % kFolds == fold; }));
  EXPECT_LE(all.mean, 0.05);  // of time, and so of cost: price by time
  EXPECT_LE(all.worst, 0.25);
  EXPECT_GE(all.covered, 0.7);
}

TEST(ClusterGrid, SizesNeverMeasured) {
  Errors all;
  for (int size : {2, 3, 4})
    all = together(all, errors(
                            grid(), [&](const Row& row) { return row.facts.workers != size; },
                            [&](const Row& row) { return row.facts.workers == size; }));
  EXPECT_LE(all.mean, 0.05);
  EXPECT_LE(all.worst, 0.25);
}

TEST(ClusterGrid, OneProbeOfEachClusterAtTheSmallestBatch) {
  const Errors found = errors(
      grid(), [](const Row& row) { return row.facts.batch == 16; },
      [](const Row& row) { return row.facts.batch != 16; });
  EXPECT_LE(found.mean, 0.05);
  EXPECT_LE(found.worst, 0.25);
}

}  // namespace
}  // namespace radl::foresight
