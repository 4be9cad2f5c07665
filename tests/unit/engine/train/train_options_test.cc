// Options of docs/job.md besides plain SGD: each reaches the training and has its documented effect.
#include "tests/unit/engine/train/train_case.h"

#include <cmath>

#include "engine/train/checkpoint.h"
#include "engine/train/step.h"

namespace radl::engine {
namespace {

class OptionsTest : public ClusterTest {
 protected:
  Checkpoint last(const std::string& name) {
    auto found = load_latest(folder_ + "/" + name + "/checkpoint");
    EXPECT_TRUE(found.ok() && *found);
    return **found;
  }
  Job short_job(const std::string& name) {
    Job j = job(name);
    j.epochs = 2;
    return j;
  }
  double loss_of(const Job& j) {
    Result<RunSummary> run = run_job(j, {});
    EXPECT_TRUE(run.ok()) << run.status().text();
    return run.ok() ? run->test_loss : 1e9;
  }
};

TEST_F(OptionsTest, EveryOptimizerLearns) {
  double guess = std::log(10.0);
  for (const char* name : {"sgd", "adamw", "lars", "muon"}) {
    Job j = short_job(name);
    j.optimizer.name = name;
    j.schedule.peak = std::string(name) == "adamw" ? 0.001 : std::string(name) == "lars" ? 5 : 0.01;
    EXPECT_LT(loss_of(j), guess - 0.08) << name;
    EXPECT_EQ(last(name).optimizer.size(), std::string(name) == "adamw" ? 2u : 1u);
  }
}

TEST_F(OptionsTest, APacedStepTakesItsTimeAndLearnsNothing) {
  Job j = short_job("paced");
  j.epochs = 0.5;  // 20 steps
  j.directories = {};
  j.pace = {0.01, 0.0001, 0};  // of 50 images: 15 ms
  Result<RunSummary> run = run_job(j, {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GE(run->seconds, 20 * 0.015);
  EXPECT_LE(run->images_per_second, 50 / 0.015);
}

TEST_F(OptionsTest, TheSpreadOfAPaceIsTheSameInEachRun) {
  const PaceSpec pace{0.01, 0, 0.2};
  double sum = 0, squares = 0;
  constexpr int kSteps = 4000;
  for (int i = 0; i < kSteps; ++i) {
    const double seconds = paced_step(pace, 1, 7, static_cast<uint64_t>(i)).count();
    EXPECT_EQ(seconds, paced_step(pace, 1, 7, static_cast<uint64_t>(i)).count());
    sum += seconds;
    squares += seconds * seconds;
  }
  const double mean = sum / kSteps;
  EXPECT_NEAR(mean, 0.01, 0.0002);
  EXPECT_NEAR(std::sqrt(squares / kSteps - mean * mean), 0.002, 0.0002);
}

constexpr char kSmall[] =
    "conv 8 stride=2\nbatchnorm\nrelu\nconv 8 stride=2\nrelu\nglobalavgpool\nlinear classes\n";

// The first third at half the size, then three quarters: interrupted in the middle it still ends with the
// same bits.
TEST_F(OptionsTest, SmallerImagesFirst) {
  Job whole = short_job("whole");
  whole.model = kSmall;
  whole.epochs = 3;
  whole.schedule.peak = 0.1;
  whole.evaluate.every_epochs = 0.5;
  Job sized = whole;
  sized.directories.model = folder_ + "/sized/model";
  sized.directories.checkpoint = folder_ + "/sized/checkpoint";
  sized.resize = {{0.5, 0.34}, {0.75, 0.67}};
  EXPECT_LT(loss_of(sized), std::log(10.0) - 0.05);
  loss_of(whole);
  EXPECT_NE(weights("whole"), weights("sized"));
  Job again = sized;
  again.directories.model = folder_ + "/again/model";
  again.directories.checkpoint = folder_ + "/again/checkpoint";
  EXPECT_EQ(interrupted_run(again, 50).code(), Code::Cancelled);
  Result<RunSummary> resumed = run_job(again, {});
  ASSERT_TRUE(resumed.ok()) << resumed.status().text();
  EXPECT_GT(resumed->resumed_from, 0u);
  EXPECT_EQ(weights("again"), weights("sized"));
}

TEST_F(OptionsTest, AModelWhoseWeightsDependOnTheSizeCannotBeResized) {
  Job j = short_job("fixed");
  j.resize = {{0.5, 0.5}};
  const Status refused = run_job(j, {}).status();
  EXPECT_EQ(refused.code(), Code::Invalid);
  EXPECT_NE(refused.text().find("other weights for images of 16x16 than for 32x32"), std::string::npos)
      << refused.text();
}

TEST_F(OptionsTest, TestTimeAugmentationIsReportedApart) {
  Job j = short_job("plain"), augmented = short_job("augmented");
  augmented.evaluate.flip = true;
  augmented.evaluate.translate = 2;
  Result<RunSummary> a = run_job(j, {}), b = run_job(augmented, {});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->test_accuracy_tta, 0);
  EXPECT_EQ(a->test_accuracy, b->test_accuracy);
  EXPECT_GT(b->test_accuracy_tta, 0.1);
  EXPECT_NE(b->test_accuracy, b->test_accuracy_tta);
}

TEST_F(OptionsTest, ClippingBoundsTheUpdates) {
  Job j = short_job("clipped");
  j.optimizer.clip = 1e-6;  // next to nothing is learned
  j.optimizer.weight_decay = 0;
  Job free = short_job("free");
  EXPECT_GT(loss_of(j), loss_of(free) + 0.1);
}

TEST_F(OptionsTest, LabelSmoothingRaisesTheTrainingLoss) {
  Job plain = short_job("plain"), smooth = short_job("smooth");
  smooth.label_smoothing = 0.2;
  Result<RunSummary> a = run_job(plain, {}), b = run_job(smooth, {});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_GT(b->train_loss, a->train_loss);
  EXPECT_NE(weights("plain"), weights("smooth"));
}

// Pieces of a batch give its gradient; the linear model has no statistics that could differ.
TEST_F(OptionsTest, AccumulatedPiecesAreTheBatch) {
  Job whole = short_job("whole"), pieces = short_job("pieces");
  pieces.accumulate = 3;  // 17, 17 and 16 images
  double a = loss_of(whole), b = loss_of(pieces);
  EXPECT_NEAR(a, b, 1e-4);
  Checkpoint x = last("whole"), y = last("pieces");
  ASSERT_EQ(x.weights.size(), y.weights.size());
  double most = 0;
  for (size_t i = 0; i < x.weights.size(); ++i)
    most = std::max(most, std::fabs(static_cast<double>(x.weights[i]) - static_cast<double>(y.weights[i])));
  EXPECT_LT(most, 1e-4);
  Job cluster = cluster_job("cluster", SyncMode::Sync, 1, 1);
  cluster.epochs = 2;
  cluster.accumulate = 3;
  Result<RunSummary> run = run_all(cluster);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_NEAR(run->test_loss, b, 1e-4);
}

TEST_F(OptionsTest, AveragesAreKeptEvaluatedAndGoOnBitIdentically) {
  for (const char* kind : {"ema", "swa"}) {
    auto with = [&](const std::string& name) {
      Job j = job(std::string(kind) + name);
      j.average = {kind, 0.95, 0.25};
      return j;
    };
    ASSERT_TRUE(run_job(with("whole"), {}).ok());
    EXPECT_EQ(interrupted_run(with("halves"), 80).code(), Code::Cancelled);
    ASSERT_TRUE(run_job(with("halves"), {}).ok());
    EXPECT_EQ(weights(std::string(kind) + "whole"), weights(std::string(kind) + "halves"));
    Checkpoint c = last(std::string(kind) + "whole");
    EXPECT_EQ(c.averaged, 240u * 3 / 4);
    EXPECT_NE(c.average, c.weights);
  }
}

// With one worker and one server in mode sync a cluster is a single process, means included.
TEST_F(OptionsTest, ServersAverageAsOneProcessDoes) {
  Job alone = short_job("alone"), cluster = cluster_job("cluster", SyncMode::Sync, 2, 1);
  alone.average = cluster.average = {"swa", 0.999, 0.5};
  cluster.epochs = 2;
  ASSERT_TRUE(run_job(alone, {}).ok());
  Result<RunSummary> run = run_all(cluster);
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_EQ(weights("alone"), weights("cluster"));
}

TEST_F(OptionsTest, TooLittleMemoryIsToldBeforeTheFirstStep) {
  Job j = short_job("huge");
  j.model = "conv 65536\nrelu\nglobalavgpool\nlinear classes\n";  // 256 MiB an image
  j.batch_size = 2000;
  Status s = run_job(j, {}).status();
  EXPECT_EQ(s.code(), Code::Quota) << s.text();
  EXPECT_NE(s.message().find("MiB"), std::string::npos) << s.message();
  EXPECT_TRUE(lines("huge", "started").empty());
}

}  // namespace
}  // namespace radl::engine
