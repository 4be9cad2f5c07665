// The recommender of Anwar et al., against every answer that its rows decide.
#include "runtime/foresight/anwar.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/runtime/foresight/tables.h"

namespace radl::foresight {
namespace {

const std::vector<int> kBatches = {64000, 32000, 6400, 2560, 1280, 192};

TEST(Anwar, FortyThreeRowsAndOneFailedRun) {
  int rows = 0, failed = 0;
  for (const StudyRow& row : study_rows("mnist")) ++(row.seconds ? rows : failed);
  EXPECT_EQ(rows, 43);
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(study_rows("cifar").size(), 7u);
}

TEST(Anwar, LookUpGivesThe12AnswersThatRowsDecide) {
  int asked = 0;
  for (const TableRow& row : table("anwar_answers.csv")) {
    if (row.at("basis") != "rows") continue;
    const int batch = std::stoi(row.at("batch"));
    const double latency = std::stod(row.at("latency_ms"));
    auto found = look_up(study_rows("mnist"), batch, latency, Reading::AsPublished);
    ASSERT_TRUE(found.ok()) << found.status().text();
    EXPECT_EQ(found->machines, std::stoi(row.at("workers"))) << batch << " at " << latency;
    auto ours = look_up(study_rows("mnist"), batch, latency);
    ASSERT_TRUE(ours.ok());
    EXPECT_EQ(ours->machines, std::stoi(row.at("with_single"))) << batch << " at " << latency;
    ++asked;
  }
  EXPECT_EQ(asked, 12);
}

TEST(Anwar, OneMachineKeptChangesFourOfSixAnswersAt60ms) {
  std::vector<int> published, ours;
  for (int batch : kBatches) {
    published.push_back(look_up(study_rows("mnist"), batch, 60, Reading::AsPublished)->machines);
    ours.push_back(look_up(study_rows("mnist"), batch, 60)->machines);
  }
  EXPECT_EQ(published, (std::vector<int>{3, 3, 3, 2, 2, 2}));
  EXPECT_EQ(ours, (std::vector<int>{3, 3, 1, 1, 1, 1}));
}

TEST(Anwar, LinesThroughRowsAt0And60GiveThe12AnswersAt80And100ms) {
  const auto rows = study_rows("mnist");
  int asked = 0;
  for (const TableRow& row : table("anwar_answers.csv")) {
    if (row.at("basis") != "model") continue;
    std::map<double, int> by_seconds;
    for (const std::string& n : words_of(row.at("candidates"))) {
      auto seconds = line_over_latency(rows, std::stoi(n), std::stoi(row.at("batch")), 0, 60,
                                       std::stod(row.at("latency_ms")));
      ASSERT_TRUE(seconds);
      by_seconds[*seconds] = std::stoi(n);
    }
    EXPECT_EQ(by_seconds.begin()->second, std::stoi(row.at("workers"))) << row.at("batch");
    ++asked;
  }
  EXPECT_EQ(asked, 12);
}

TEST(Anwar, The19OrderingsThatRowsCanCheckHold) {
  std::map<std::tuple<double, int, int>, double> seconds;
  for (const StudyRow& row : study_rows("mnist"))
    if (row.seconds) seconds[{row.latency_ms, row.batch, row.machines}] = *row.seconds;
  int checked = 0;
  for (const TableRow& row : table("anwar_orderings.csv")) {
    auto of = [&](const std::string& n) {
      return seconds.find({std::stod(row.at("latency_ms")), std::stoi(row.at("batch")), std::stoi(n)});
    };
    const auto winner = of(row.at("faster"));
    for (const std::string& loser : words_of(row.at("slower"))) {
      if (winner == seconds.end() || of(loser) == seconds.end()) continue;
      EXPECT_LT(winner->second, of(loser)->second) << row.at("batch") << " at " << row.at("latency_ms");
      ++checked;
    }
  }
  EXPECT_EQ(checked, 19);
}

TEST(Anwar, CifarAt100msFollowsFromTheRowsAt0And20) {
  auto seconds = line_over_latency(study_rows("cifar"), 2, 64, 0, 20, 100);
  ASSERT_TRUE(seconds);
  EXPECT_EQ(std::lround(*seconds), 577);  // 576 was measured
}

TEST(Anwar, MessagesDependOnTheSizeAndHardlyOnTheBatch) {
  const std::map<int, std::pair<double, double>> expected = {
      {2, {400, 467}}, {3, {566, 634}}, {4, {4733, 4834}}};
  for (const auto& [machines, range] : expected) {
    for (int batch : {6400, 2560, 1280, 192}) {
      auto messages = messages_of(study_rows("mnist"), machines, batch, 0, 60);
      ASSERT_TRUE(messages);
      EXPECT_GE(*messages, range.first);
      EXPECT_LE(*messages, range.second);
    }
  }
}

TEST(Anwar, QuestionsWithoutARowNameTheNearest) {
  auto none = look_up(study_rows("mnist"), 3000, 60);
  EXPECT_EQ(none.status().code(), Code::NotFound);
  EXPECT_NE(none.status().hint().find("batch 2560 at 60 ms"), std::string::npos) << none.status().hint();
  auto large = look_up(study_rows("mnist"), 64000, 33);
  EXPECT_NE(large.status().hint().find("does not fit into memory"), std::string::npos)
      << large.status().hint();
  // One machine alone is no answer to a latency that nothing was measured at.
  EXPECT_FALSE(look_up(study_rows("mnist"), 6400, 33).ok());
  EXPECT_EQ(look_up({}, 1, 0).status().code(), Code::NotFound);
  EXPECT_EQ(look_up(study_rows(), 0, 0).status().code(), Code::Invalid);
  EXPECT_EQ(look_up(study_rows(), 64, NAN).status().code(), Code::Invalid);
}

SizedCandidate sized(int machines, double seconds) {
  return {machines, seconds, {machines * int64_t{92800}, "USD"}};
}

TEST(Anwar, WeightsAndBudget) {
  const std::vector<SizedCandidate> all = {sized(1, 96), sized(2, 110), sized(3, 97), sized(4, 341)},
                                    clusters(all.begin() + 1, all.end());
  EXPECT_EQ(least_weighted(all, {})->machines, 1);
  EXPECT_EQ(least_weighted(clusters, {})->machines, 3);
  EXPECT_EQ(least_weighted(clusters, {}, Money::of(0.2), CostOf::Rate)->machines, 2);
  EXPECT_EQ(least_weighted(clusters, {0, 1})->machines, 2);
  auto none = least_weighted(all, {}, Money::of(0.05), CostOf::Rate);
  EXPECT_EQ(none.status().code(), Code::NotFound);
  EXPECT_NE(none.status().hint().find("0.0928 USD"), std::string::npos) << none.status().hint();
  // Alike in time: the cheaper.
  EXPECT_EQ(least_weighted({sized(3, 5), sized(2, 5)}, {})->machines, 2);
}

TEST(Anwar, AbsurdWeightsAndMixedCurrenciesAreRefused) {
  const std::vector<SizedCandidate> one = {sized(1, 96)};
  for (const Weights& weights : {Weights{-1, 1}, Weights{NAN, 1}, Weights{0, 0}, Weights{1, INFINITY}})
    EXPECT_EQ(least_weighted(one, weights).status().code(), Code::Invalid);
  EXPECT_EQ(least_weighted({}, {}).status().code(), Code::Invalid);
  EXPECT_EQ(least_weighted(one, {}, Money::of(1, "EUR")).status().code(), Code::Invalid);
  EXPECT_EQ(least_weighted({sized(1, 96), {2, 50, Money::of(1, "EUR")}}, {}).status().code(), Code::Invalid);
}

TEST(Anwar, MalformedRowsAreNamedByLine) {
  auto wrong = read_study_rows("study,machine\nmnist,m,1,2,0,9,here\nmnist,m,0,2,0,9,here\n", "mine.csv");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("mine.csv:3"), std::string::npos) << wrong.status().message();
}

}  // namespace
}  // namespace radl::foresight
