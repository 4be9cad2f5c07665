// How long a program takes, by the progress that it prints.
#include "runtime/steps/program/progress.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace radl::program {
namespace {

struct At {
  double seconds;
  std::string line;
};

std::optional<ProgressEstimate> estimate(const std::vector<At>& lines, double now,
                                         const std::vector<std::string>& arguments = {}) {
  ProgressReader reader(arguments);
  for (const At& one : lines) reader.take(one.seconds, one.line);
  return reader.estimate(now);
}

// Its time is about `seconds`, within a band that holds them.
void expect_time(const std::optional<ProgressEstimate>& estimate, double seconds) {
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(estimate->seconds, seconds, 0.15 * seconds) << estimate->what;
  EXPECT_LE(estimate->low, seconds) << estimate->what;
  EXPECT_GE(estimate->high, seconds) << estimate->what;
  EXPECT_LT(estimate->high, 3 * seconds) << estimate->what;
}

// Lines of epochs that take ten seconds each, after five seconds of loading: 105 s in all.
std::vector<At> epochs(const std::string& pattern, int count, int first = 1) {
  std::vector<At> lines;
  for (int i = 0; i < count; ++i)
    lines.push_back({5 + 10.0 * (i + 1), fmt::format(fmt::runtime(pattern), i + first)});
  return lines;
}

TEST(Progress, CountersWithTheirTotal) {
  for (const char* pattern :
       {"Epoch {}/10, loss: 0.5", "epoch {} of 10 loss=0.5", "Epoch [{}/10] acc 0.9", "[epoch {}/10] 0.3",
        "Epoch: {}/10 | Loss: 0.3", "2026-11-27 10:00:00,123 INFO epoch {}/10 loss 0.1",
        R"({{"epoch": {}, "epochs": 10, "loss": 0.5}})", "step={} total=10", "iter {}/10", "batch {} of 10",
        R"({{"step": {}, "total_steps": 10}})"})
    expect_time(estimate(epochs(pattern, 4), 50), 105);
  const auto known = estimate(epochs("Epoch {}/10 loss 1", 3), 40);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->what, "epoch 3 of 10");
}

TEST(Progress, ATotalMayBeAnArgumentOrALineOfItsOwn) {
  const std::string counts = R"({{"epoch": {}, "loss": 0.5}})";
  EXPECT_FALSE(estimate(epochs(counts, 4), 50)) << "nothing says how many";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--epochs", "10"}, {"--epochs=10"}, {"--max-epochs", "10"}, {"trainer.max_epochs=10"}})
    expect_time(estimate(epochs(counts, 4), 50, words), 105);
  EXPECT_FALSE(estimate(epochs(counts, 4), 50, {"--epochs", "many"}));
  std::vector<At> lines = epochs("step {} loss 0.5", 4);
  for (At& one : lines) one.line = fmt::format("{{'loss': 0.5, 'step': {}}}", (one.seconds - 5) / 10);
  lines.insert(lines.begin(), {1, "  Total optimization steps = 10"});
  expect_time(estimate(lines, 50), 105);
}

TEST(Progress, EpochsThatBeginAtZeroOrArePrintedAsTheyBegin) {
  expect_time(estimate(epochs("Epoch {}/10 loss 1", 4, 0), 50), 105);
  std::vector<At> begun;  // Keras prints the epoch as it begins, and then bars within it
  for (int epoch = 1; epoch <= 3; ++epoch) {
    begun.push_back({5 + 10.0 * (epoch - 1), fmt::format("Epoch {}/10", epoch)});
    for (int step : {25, 50, 75, 100})
      begun.push_back({5 + 10.0 * (epoch - 1) + step / 10.0,
                       fmt::format("{}/100 ━━━━━━━━━━━━━━━━━━━━ 1s 23ms/step - loss: 0.5", step)});
  }
  expect_time(estimate(begun, 35), 105);
  begun.resize(4);  // in the midst of the first epoch
  expect_time(estimate(begun, 13), 105);
}

TEST(Progress, BarsTellByTheTimeThatTheyShow) {
  // One line, drawn over and over, that comes as a whole.
  std::string line = "  0%|          | 0/100 [00:00<?, ?it/s]";
  for (int step = 1; step <= 20; ++step)
    line +=
        fmt::format("\r {:3}%|##        | {}/100 [00:{:02}<01:30,  1.00it/s, loss=0.4]", step, step, step);
  expect_time(estimate({{25, line}}, 25), 105);  // it began after five seconds
  std::string nested;
  for (int step = 5; step <= 50; step += 5)
    nested +=
        fmt::format("\rEpoch 1/10: {}%|##   | {}/100 [00:{:02}<00:09, 10.0it/s]", step, step, step / 10);
  expect_time(estimate({{10, nested}}, 10), 105);
  std::string lightning = "Sanity Checking DataLoader 0: 100%|####| 2/2 [00:00<00:00, 9it/s]";
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int step = 10; step <= 100; step += 10)
      lightning += fmt::format("\rEpoch {}: {:3}%|##| {}/100 [00:{:02}<00:00, 10it/s, v_num=0]", epoch, step,
                               step, step / 10);
  expect_time(estimate({{35, lightning}}, 35, {"--max_epochs", "10"}), 105);
  std::vector<At> by_epoch;
  for (int epoch = 0; epoch < 3; ++epoch)
    by_epoch.push_back(
        {15 + 10.0 * epoch, fmt::format("Epoch {}: 100%|####| 100/100 [00:10<00:00, 10it/s]", epoch)});
  expect_time(estimate(by_epoch, 40, {"--max_epochs", "10"}), 105);
  EXPECT_FALSE(estimate(by_epoch, 40)) << "Lightning does not say how many epochs there are";
}

// As Keras 3 writes into a file: one line that is drawn over, with colours and without a clock.
TEST(Progress, ABarOfKerasThatIsDrawnOver) {
  std::string line;
  for (int step = 1; step <= 50; ++step)
    line += fmt::format(
        "\b\b\b\b\b\r\x1b[1m{}/100\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m━━━\x1b[0m \x1b[1m12s\x1b[0m 62ms/step "
        "- loss: 3.6",
        step);
  expect_time(estimate({{5, "Epoch 1/10"}, {10, line}}, 10), 105);
}

// Lightning with rich draws its bar when it ends, and counts epochs from 0 to the last.
TEST(Progress, ABarOfLightningWithRich) {
  const auto known = estimate(
      {{26, "Epoch 1/9  ━━━                     60/600 0:00:01 • 0:00:09 13.54it/s loss: 0.072"}}, 26);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->what, "epoch 1.1 of 10");
  EXPECT_LE(known->low, 105);
  EXPECT_GE(known->high, 105);
}

TEST(Progress, TheTrainerOfHuggingFace) {
  std::vector<At> lines;
  for (int step = 10; step <= 60; step += 10) {
    lines.push_back({5 + step / 2.0, fmt::format("\r {}%|##  | {}/200 [00:{:02}<01:10,  2.00it/s]", step / 2,
                                                 step, step / 2)});
    lines.push_back(
        {5 + step / 2.0, fmt::format("{{'loss': 2.1, 'learning_rate': 5e-05, 'epoch': {}}}", step / 100.0)});
  }
  expect_time(estimate(lines, 36), 105);
}

TEST(Progress, Percentages) {
  expect_time(estimate({{15, "progress: 10%"}, {25, "progress: 20%"}, {35, "progress: 30%"}}, 36), 105);
  expect_time(estimate({{15, "10% done"}, {25, "20% done"}}, 26), 105);
}

TEST(Progress, OtherFiguresAreNotProgress) {
  const std::vector<At> lines = {{1, "listening on 127.0.0.1:29500"},
                                 {2, "2026/11/27 10:00:00 started"},
                                 {3, "worker 1/2 is ready"},
                                 {4, "reading /data/1/2"},
                                 {5, "accuracy 12/100"},
                                 {6, "cpu 35%"},
                                 {7, "loss: 0.5"},
                                 {8, "Epoch 1/10"}};  // printed as it begins: it says nothing of its time
  EXPECT_FALSE(estimate(lines, 30));
  EXPECT_FALSE(estimate({}, 30));
}

TEST(Progress, ABandIsWideWhereLittleIsKnownAndNeverBelowWhatWasSeen) {
  const auto one = estimate(epochs("Epoch {}/10 loss 1", 1), 16),
             many = estimate(epochs("Epoch {}/10 loss 1", 6), 66);
  ASSERT_TRUE(one && many);
  EXPECT_GT(one->high / one->low, many->high / many->low);
  // It stopped counting long ago.
  const auto still = estimate(epochs("Epoch {}/10 loss 1", 4), 300);
  ASSERT_TRUE(still);
  EXPECT_GE(still->low, 300);
  EXPECT_GT(still->high, still->seconds);
}

// Block-buffered output arrives at once: its lines tell how far the program is, and nothing of its pace.
TEST(Progress, LinesThatABufferHeldBackTellNoPace) {
  ProgressReader reader;
  for (int epoch = 1; epoch <= 10; ++epoch)
    reader.take(58.0 + 1e-6 * epoch, fmt::format("Epoch {}/100", epoch));
  const auto estimate = reader.estimate(60);
  ASSERT_TRUE(estimate);
  EXPECT_GT(estimate->seconds, 300);
  EXPECT_GT(estimate->high, 600);
}

}  // namespace
}  // namespace radl::program
