// Which numbers of a program's output become metrics.
#include <gtest/gtest.h>

#include "runtime/steps/program/metric_lines.h"

namespace radl::program {
namespace {

Metrics metrics_of(std::initializer_list<std::string_view> lines) {
  Metrics metrics;
  for (std::string_view line : lines) take_line(line, metrics);
  return metrics;
}

TEST(MetricLines, PairsOfNameAndNumber) {
  EXPECT_EQ(metrics_of({"loss: 0.5"}), (Metrics{{"loss", 0.5}}));
  EXPECT_EQ(metrics_of({"val_loss=0.25, lr=1e-4"}), (Metrics{{"lr", 1e-4}, {"val_loss", 0.25}}));
  EXPECT_EQ(metrics_of({"Epoch 3  Train loss: 0.41 | Test accuracy: 93.2%"}),
            (Metrics{{"Test accuracy", 93.2}, {"Train loss", 0.41}}));
  EXPECT_EQ(metrics_of({"2026-01-01 10:00:00 INFO loss: +0.5"}), (Metrics{{"loss", 0.5}}));
  EXPECT_EQ(metrics_of({"loss: 2", "loss: 1"}), (Metrics{{"loss", 1}})) << "the last value counts";
}

// transformers 5 prints its figures as texts.
TEST(MetricLines, TextsOfAPythonDictionaryThatAreNumbers) {
  EXPECT_EQ(metrics_of({"{'loss': '0.6913', 'learning_rate': '4.74e-05', 'epoch': '0.16', 'name': 'a1'}"}),
            (Metrics{{"epoch", 0.16}, {"learning_rate", 4.74e-05}, {"loss", 0.6913}}));
  EXPECT_EQ(metrics_of({R"({"id": "12", "loss": 0.5})"}), (Metrics{{"loss", 0.5}}))
      << "JSON says what is a number";
}

TEST(MetricLines, OtherTextIsNotAMetric) {
  EXPECT_EQ(metrics_of({"listening on localhost:29500", "http://host:8080/x", "step: 10/100", "speed: 3it/s",
                        "time: 12:30", "File \"train.py\", line 5", "loss: nan", "loss: inf",
                        "== 5 ==", ": 5", "3: 5", "saved 12 files", "the answer is  forty two"}),
            Metrics{});
}

TEST(MetricLines, SettingsAndSentencesAreNotMetrics) {
  EXPECT_EQ(metrics_of({"listening with port=31884", "rank=0 world_size=2 seed=7", "Serving on port: 8080",
                        "the server waits for peers=3", "could not read all of the shards: see line 5"}),
            Metrics{});
  EXPECT_EQ(metrics_of({"started with port=31884, loss=0.5", "epoch 3 is done after a while: acc=0.9"}),
            (Metrics{{"acc", 0.9}, {"loss", 0.5}}));
}

TEST(MetricLines, HuggingFaceTrainer) {
  EXPECT_EQ(metrics_of({"{'loss': 0.5731, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 1.0}"}),
            (Metrics{{"epoch", 1}, {"grad_norm", 1.25}, {"learning_rate", 5e-05}, {"loss", 0.5731}}));
  EXPECT_EQ(metrics_of({"{'eval_loss': nan, 'eval_f1': 0.5, 'note': \"it's\", 'best': None, 'done': True}"}),
            (Metrics{{"eval_f1", 0.5}}));
  EXPECT_EQ(metrics_of({"  eval_accuracy           =     0.8725", "  train_loss = 0.5"}),
            (Metrics{{"eval_accuracy", 0.8725}, {"train_loss", 0.5}}));
}

TEST(MetricLines, Lightning) {
  EXPECT_EQ(metrics_of({"Epoch 0:  50%|█████     | 5/10 [00:00<00:00, 50.0it/s, v_num=0, loss=2]\r"
                        "Epoch 0: 100%|██████████| 10/10 [00:00<00:00, 50.0it/s, v_num=0, loss=1.5]"}),
            (Metrics{{"loss", 1.5}, {"v_num", 0}}));
  EXPECT_EQ(metrics_of({"        test_acc            0.9123", "────────────────",
                        "       Test metric             DataLoader 0"}),
            (Metrics{{"test_acc", 0.9123}}));
  EXPECT_EQ(metrics_of({"│         test_loss         │    0.21875    │",
                        "┃        Test metric        ┃       DataLoader 0        ┃"}),
            (Metrics{{"test_loss", 0.21875}}));
}

TEST(MetricLines, KerasAndFastText) {
  EXPECT_EQ(metrics_of({"10/10 - 1s - 92ms/step - accuracy: 0.5125 - loss: 1.25 - val_accuracy: 0.5"}),
            (Metrics{{"accuracy", 0.5125}, {"loss", 1.25}, {"val_accuracy", 0.5}}));
}

TEST(MetricLines, JsonComesFirst) {
  EXPECT_EQ(metrics_of({R"({"test": {"accuracy": 0.5}, "note": "loss: 3"})"}),
            (Metrics{{"test.accuracy", 0.5}}));
}

TEST(MetricLines, NamesAreBounded) {
  Metrics metrics;
  for (int i = 0; i < 20'000; ++i) take_line("m" + std::to_string(i) + "=1", metrics);
  EXPECT_EQ(metrics.size(), 10'000u);
  take_line(std::string(100'000, 'x') + ": 5", metrics);
  EXPECT_EQ(metrics.size(), 10'000u);
}

}  // namespace
}  // namespace radl::program
