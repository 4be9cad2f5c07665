// The model as it ships, on rows that it has not seen.
#include "runtime/foresight/epoch_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "runtime/foresight/published_data.h"
#include "tests/unit/runtime/foresight/tables.h"

namespace radl::foresight {
namespace {

std::vector<EpochTime> measured(const std::function<bool(const EpochTime&)>& wanted = [](const auto&) {
  return true;
}) {
  std::vector<EpochTime> rows;
  for (const StudyRow& row : study_rows("mnist")) {
    if (!row.seconds) continue;
    EpochTime one{row.machines, static_cast<double>(row.batch), row.latency_ms, *row.seconds};
    if (wanted(one)) rows.push_back(one);
  }
  return rows;
}

std::vector<EpochTime> failed() {
  std::vector<EpochTime> rows;
  for (const StudyRow& row : study_rows("mnist"))
    if (!row.seconds) rows.push_back({row.machines, static_cast<double>(row.batch), row.latency_ms, 0});
  return rows;
}

struct HeldOut {
  std::vector<double> errors;                                                         // relative
  std::map<std::pair<double, double>, std::vector<std::pair<double, double>>> cells;  // predicted, measured
  // Of those that the model calls inside of what was measured: how many, and how many of them are in the band
  // of 80%. Bands outside are wider on purpose.
  int known = 0, inside = 0;

  double mean() const {
    double sum = 0;
    for (double error : errors) sum += error;
    return sum / static_cast<double>(errors.size());
  }
  double coverage() const { return inside / static_cast<double>(known); }
  // Of questions with three sizes or more: how much longer the size takes that the prediction would choose.
  double regret() const {
    double sum = 0;
    int asked = 0;
    for (const auto& [question, sizes] : cells) {
      if (sizes.size() < 3) continue;
      auto chosen = *std::min_element(sizes.begin(), sizes.end());
      double best = chosen.second;
      for (const auto& [predicted, seconds] : sizes) best = std::min(best, seconds);
      sum += chosen.second / best - 1;
      ++asked;
    }
    EXPECT_EQ(asked, 12);
    return sum / asked;
  }
};

// Each group of rows with the same key is predicted by a model that was fitted on the rest alone.
template <class Key>
HeldOut hold_out(const Key& key_of) {
  const std::vector<EpochTime> rows = measured();
  std::set<double> keys;
  for (size_t i = 0; i < rows.size(); ++i) keys.insert(key_of(rows[i], i));
  HeldOut held;
  for (double key : keys) {
    std::vector<EpochTime> rest;
    for (size_t i = 0; i < rows.size(); ++i)
      if (key_of(rows[i], i) != key) rest.push_back(rows[i]);
    auto model = EpochModel::fit(rest);
    EXPECT_TRUE(model.ok());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (key_of(rows[i], i) != key) continue;
      const EpochTime& row = rows[i];
      auto estimate = model->predict(row.nodes, row.batch, row.latency_ms);
      EXPECT_TRUE(estimate.ok()) << estimate.status().text();
      held.errors.push_back(std::fabs(estimate->seconds / row.seconds - 1));
      if (estimate->outside.empty()) {
        ++held.known;
        held.inside += estimate->low <= row.seconds && row.seconds <= estimate->high;
      }
      held.cells[{row.batch, row.latency_ms}].push_back({estimate->seconds, row.seconds});
    }
  }
  EXPECT_EQ(held.errors.size(), 43u);
  std::printf("mean error %.2f%%, regret %.2f%%, 80%% band covers %.0f%%\n", 100 * held.mean(),
              100 * held.regret(), 100 * held.coverage());
  return held;
}

void expect_within(const HeldOut& held, double error) {
  EXPECT_LE(held.mean(), error);
  EXPECT_LE(held.regret(), 0.004);
  EXPECT_GE(held.coverage(), 0.7);
  EXPECT_LE(held.coverage(), 0.9);
}

TEST(EpochModel, OneRowNeverSeen) {
  expect_within(hold_out([](const EpochTime&, size_t i) { return static_cast<double>(i); }), 0.057);
}
TEST(EpochModel, OneQuestionNeverSeen) {
  expect_within(hold_out([](const EpochTime& row, size_t) { return row.batch * 1000 + row.latency_ms; }),
                0.071);
}
TEST(EpochModel, OneBatchNeverSeen) {
  expect_within(hold_out([](const EpochTime& row, size_t) { return row.batch; }), 0.088);
}

TEST(EpochModel, OneProbeForEachSizeAtTheSmallestBatchGivesTheOtherRows) {
  double sum = 0;
  int count = 0;
  for (int nodes : {2, 3, 4}) {
    auto known = [&](const EpochTime& row) {
      return row.latency_ms == 0 || (row.nodes == nodes && row.latency_ms == 60 && row.batch == 192);
    };
    auto model = EpochModel::fit(measured(known));
    ASSERT_TRUE(model.ok());
    for (const EpochTime& row :
         measured([&](const EpochTime& one) { return one.nodes == nodes && !known(one); })) {
      auto estimate = model->predict(row.nodes, row.batch, row.latency_ms);
      ASSERT_TRUE(estimate.ok());
      sum += std::fabs(estimate->seconds / row.seconds - 1);
      ++count;
    }
  }
  EXPECT_EQ(count, 17);
  std::printf("probe: mean error %.2f%%\n", 100 * sum / count);
  EXPECT_LE(sum / count, 0.026);
}

TEST(EpochModel, RowsAt0And60GiveTheAnswersAt80And100ms) {
  auto model = EpochModel::fit(measured([](const EpochTime& row) { return row.latency_ms != 20; }));
  ASSERT_TRUE(model.ok());
  int asked = 0;
  for (const TableRow& row : table("anwar_answers.csv")) {
    if (row.at("basis") != "model") continue;
    std::map<double, int> sizes;
    for (const std::string& n : words_of(row.at("candidates"))) {
      auto estimate =
          model->predict(std::stoi(n), std::stod(row.at("batch")), std::stod(row.at("latency_ms")));
      ASSERT_TRUE(estimate.ok());
      EXPECT_FALSE(estimate->outside.empty()) << "beyond 60 ms nothing was measured";
      sizes[estimate->seconds] = std::stoi(n);
    }
    EXPECT_EQ(sizes.begin()->second, std::stoi(row.at("workers")))
        << row.at("batch") << " at " << row.at("latency_ms");
    ++asked;
  }
  EXPECT_EQ(asked, 12);
}

TEST(EpochModel, ABatchThatFailedIsInfeasibleAndNotSlow) {
  auto model = EpochModel::fit(measured(), failed());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->predict(1, 64000, 0).status().code(), Code::Unsupported);
  EXPECT_EQ(model->predict(2, 200000, 0).status().code(), Code::Unsupported);
  EXPECT_TRUE(model->predict(2, 64000, 0).ok());
}

TEST(EpochModel, OutsideOfWhatWasMeasuredIsSaidAndWider) {
  auto model = EpochModel::fit(measured());
  ASSERT_TRUE(model.ok());
  auto inside = model->predict(2, 6400, 30), sizes = model->predict(8, 6400, 30);
  ASSERT_TRUE(inside.ok() && sizes.ok());
  EXPECT_TRUE(inside->outside.empty());
  ASSERT_EQ(sizes->outside.size(), 1u);
  EXPECT_EQ(sizes->outside[0], "8 nodes were never measured");
  EXPECT_GT(sizes->high / sizes->low, 1.5 * inside->high / inside->low);
  // Nothing of a cluster: unknown, and no invention.
  auto alone = EpochModel::fit(measured([](const EpochTime& row) { return row.nodes == 1; }));
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->predict(2, 6400, 0).status().code(), Code::NotFound);
}

// For four nodes there are rows at 0 and 60 ms. They do not show how time grows in between, and the study's
// text says that the growth is uneven.
TEST(EpochModel, AGapOfTheDataIsOutsideAndItsBandReachesBothEnds) {
  auto model = EpochModel::fit(measured());
  ASSERT_TRUE(model.ok());
  for (double batch : {6400.0, 64000.0}) {
    auto gap = model->predict(4, batch, 20), below = model->predict(4, batch, 0),
         above = model->predict(4, batch, 60);
    ASSERT_TRUE(gap.ok() && below.ok() && above.ok());
    EXPECT_EQ(gap->outside.size(), 1u);
    EXPECT_FALSE(gap->measured);
    EXPECT_LE(gap->low, below->low);
    EXPECT_GE(gap->high, above->high);
  }
  auto measured_row = model->predict(2, 6400, 20);
  ASSERT_TRUE(measured_row.ok());
  EXPECT_TRUE(measured_row->outside.empty());
  EXPECT_EQ(measured_row->measured, 90);
}

TEST(EpochModel, ABatchThatOnlyAnotherSizeWasMeasuredAtIsOutside) {
  auto model =
      EpochModel::fit(measured([](const EpochTime& row) { return row.nodes != 3 || row.batch > 1000; }));
  ASSERT_TRUE(model.ok());
  // 192 images are 64 for each of three nodes: as many as one node alone and four nodes were measured at.
  EXPECT_EQ(model->predict(3, 192, 0)->outside.size(), 1u);
  EXPECT_TRUE(model->predict(4, 192, 0)->outside.empty());
}

std::optional<int> chosen_of(const EpochModel& model, const std::vector<int>& sizes, double batch,
                             double latency_ms) {
  std::vector<EpochModel::SizedEstimate> estimates;
  for (int nodes : sizes)
    if (auto estimate = model.predict(nodes, batch, latency_ms); estimate.ok())
      estimates.push_back({nodes, 1, *estimate});
  const auto chosen = model.choose(estimates);
  return chosen ? std::optional(estimates[*chosen].nodes) : std::nullopt;
}

TEST(EpochModel, ASmallerClusterWinsWhereNothingTellsItFromTheFastest) {
  auto model = EpochModel::fit(measured(), failed());
  ASSERT_TRUE(model.ok());
  // 523 s of four nodes and 525 s of three: the study recommends three.
  EXPECT_EQ(chosen_of(*model, {2, 3, 4}, 64000, 20), 3);
  EXPECT_EQ(chosen_of(*model, {}, 64000, 20), std::nullopt);
}

TEST(EpochModel, MeasuredTimesAreComparedAsTheyAre) {
  auto model = EpochModel::fit(measured(), failed());
  ASSERT_TRUE(model.ok());
  int asked = 0;
  for (const TableRow& row : table("anwar_answers.csv")) {
    if (row.at("basis") != "rows") continue;
    std::vector<int> sizes;
    for (const std::string& n : words_of(row.at("candidates"))) sizes.push_back(std::stoi(n));
    EXPECT_EQ(chosen_of(*model, sizes, std::stod(row.at("batch")), std::stod(row.at("latency_ms"))),
              std::stoi(row.at("workers")))
        << row.at("batch") << " at " << row.at("latency_ms");
    ++asked;
  }
  EXPECT_EQ(asked, 12);
}

TEST(EpochModel, TheSameRowsGiveTheSameFigures) {
  auto a = EpochModel::fit(measured()), b = EpochModel::fit(measured());
  EXPECT_EQ(a->predict(3, 5000, 10)->seconds, b->predict(3, 5000, 10)->seconds);
}

TEST(EpochModel, RowsThatAreNoneAreRefused) {
  EXPECT_EQ(EpochModel::fit({}).status().code(), Code::Invalid);
  EXPECT_EQ(EpochModel::fit({{0, 10, 0, 5}}).status().code(), Code::Invalid);
  EXPECT_EQ(EpochModel::fit({{1, 10, 0, NAN}}).status().code(), Code::Invalid);
  auto model = EpochModel::fit(measured());
  EXPECT_EQ(model->predict(0, 10, 0).status().code(), Code::Invalid);
  EXPECT_EQ(model->predict(2, 10, NAN).status().code(), Code::Invalid);
  EXPECT_EQ(model->predict(2, 10, 0, 1).status().code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::foresight
