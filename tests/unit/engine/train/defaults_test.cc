// What a job that says nothing gets: every model of the zoo trains on a small folder.
#include "engine/train/defaults.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "common/files.h"
#include "engine/data/image.h"
#include "engine/train/run.h"
#include "tests/support/need.h"

namespace radl::engine {
namespace {

namespace fs = std::filesystem;

Job chosen(const std::string& model, size_t images, Job job = {}) {
  job.model = model;
  job.dataset.directory = "d";
  test::need(choose_defaults(job, test::need(parse_model(model, {32, 32, 3}, 10)), images));
  return job;
}

TEST(Defaults, FitTheModelAndTheOptimizer) {
  EXPECT_EQ(chosen("resnet20", 50000).optimizer.name, "sgd");
  EXPECT_EQ(chosen("vit-tiny", 50000).optimizer.name, "adamw");
  EXPECT_LT(chosen("lenet", 50000).schedule.peak, chosen("resnet20", 50000).schedule.peak)
      << "nothing bounds what an update changes";
  Job adam;
  adam.optimizer.name = "adamw";
  EXPECT_LT(chosen("resnet20", 50000, adam).schedule.peak, chosen("resnet20", 50000).schedule.peak);
  EXPECT_GT(chosen("mlp", 50000).schedule.warmup, 0);
  Job part;
  part.sync = {.mode = SyncMode::AllReduce, .gradients = Encoding::TopK};
  EXPECT_EQ(chosen("vit-tiny", 50000, part).optimizer.name, "sgd") << "no other optimizer trains with top_k";
}

TEST(Defaults, FitTheTrainingPart) {
  EXPECT_EQ(chosen("lenet", 50000).batch_size, 128);
  EXPECT_EQ(chosen("lenet", 160).batch_size, 8);
  EXPECT_EQ(chosen("lenet", 1000).batch_size, 32);
  EXPECT_EQ(chosen("lenet", 3).batch_size, 3);
  EXPECT_LT(chosen("lenet", 160).schedule.peak, chosen("lenet", 50000).schedule.peak);
}

TEST(Defaults, LeaveWhatIsGiven) {
  Job given;
  given.batch_size = 77;
  given.optimizer.name = "lars";
  given.schedule.peak = 0.123;
  given.schedule.warmup = 0;
  const Job job = chosen("vit-tiny", 160, given);
  EXPECT_EQ(job.batch_size, 77);
  EXPECT_EQ(job.optimizer.name, "lars");
  EXPECT_EQ(job.schedule.peak, 0.123);
  EXPECT_EQ(job.schedule.warmup, 0);
}

TEST(Defaults, AKeyThatDoesNotFitWhatIsChosenIsNamed) {
  Job job;
  job.dataset.directory = "d";
  job.accumulate = 20;
  Result<Graph> graph = parse_model("lenet", {32, 32, 3}, 10);
  EXPECT_NE(choose_defaults(job, *graph, 160).text().find("accumulate"), std::string::npos);
}

constexpr double kLearned = 0.7;  // of the loss of a guess between two classes, log(2)

// A folder of noisy images of two classes: brighter above, or brighter below.
class SmallFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("radl-defaults-" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Job job_on(int side, int images) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> noise(0, 120);
    for (const auto& [part, count] : {std::pair{"train", images}, {"test", 8}}) {
      for (int i = 0; i < count; ++i) {
        const bool above = i % 2 == 0;
        std::vector<uint8_t> pixels;
        for (int y = 0; y < side; ++y)
          for (int at = 0; at < side * 3; ++at)
            pixels.push_back(static_cast<uint8_t>(noise(random) + ((y < side / 2) == above ? 100 : 40)));
        const std::string png = test::need(data::encode_png(side, side, 3, pixels));
        const std::string folder = folder_ + "/" + part + (above ? "/above" : "/below");
        test::need(make_directories(folder));
        test::need(write_file_atomic(fmt::format("{}/{}.png", folder, i), png));
      }
    }
    Job job;
    job.dataset.name = "folder";
    job.dataset.directory = folder_;
    job.threads = 1;  // threads that wait for each other are slow on a busy machine
    return job;
  }
  std::string folder_;
};

using Tokens = SmallFolder;

TEST_F(Tokens, NoDatasetHoldsThem) {
  Job job = job_on(16, 8);
  job.dataset.shape = {1, 16, 1};
  job.model = "words: embedding 8 vocabulary=300\nglobalavgpool\nfc: linear classes\n";
  const Status refused = run_job(job, {}).status();
  EXPECT_EQ(refused.code(), Code::Unsupported);
  EXPECT_NE(refused.message().find("words: embedding takes integer tokens"), std::string::npos)
      << refused.text();
}

// With nothing given but the optimizer, models of each kind learn.
class OptimizerDefaults : public SmallFolder, public testing::WithParamInterface<const char*> {};

TEST_P(OptimizerDefaults, TrainModelsOfEachKind) {
  Job job = job_on(16, 40);
  job.optimizer.name = GetParam();
  for (const char* model : {"lenet", "fastcifar-s", "vit-tiny"}) {
    if (std::string(model) == "vit-tiny" && job.optimizer.name == "lars") continue;  // it needs longer
    job.model = model;
    Result<RunSummary> run = run_job(job, {});
    ASSERT_TRUE(run.ok()) << run.status().text();
    EXPECT_LT(run->train_loss, kLearned * std::log(2.0)) << model;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, OptimizerDefaults, testing::Values("sgd", "adamw", "lars", "muon"),
                         [](const auto& info) { return std::string(info.param); });

class ZooTest : public SmallFolder, public testing::WithParamInterface<std::string> {};

TEST_P(ZooTest, TrainsOnASmallFolderWithNoOptions) {
  const int side = GetParam() == "inception-resnet-v1" ? 75 : 16;  // 75: the smallest that it takes
  Result<Graph> graph = parse_model(GetParam(), {side, side, 3}, 2);
  ASSERT_TRUE(graph.ok()) << graph.status().text();
  const size_t size = graph->parameter_count;
  const bool deep = graph->layers.size() > 150;
  Job job = job_on(side, size > 20000000 ? 10 : size > 5000000 || deep ? 16 : 40);  // quick enough for each
  job.model = GetParam();
  Result<RunSummary> run = run_job(job, {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_LT(run->train_loss, kLearned * std::log(2.0)) << "of the last epoch";
  EXPECT_TRUE(std::isfinite(run->test_loss));
}

INSTANTIATE_TEST_SUITE_P(Models, ZooTest, testing::ValuesIn(zoo_names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace radl::engine
