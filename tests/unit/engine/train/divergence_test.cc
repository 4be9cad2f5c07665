// A training that diverged: it is noticed, it leaves no checkpoint of itself, and what it wrote can be read.
#include "tests/unit/engine/train/train_case.h"

#include <cmath>
#include <limits>

#include "engine/train/checkpoint.h"
#include "engine/train/guard.h"
#include "engine/train/history.h"

namespace radl::engine {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(DivergenceGuard, NoticesACollapseWithAnyNumberOfClasses) {
  for (int classes : {2, 3, 10, 100}) {
    const double chance = 1.0 / classes;
    DivergenceGuard guard(chance, 20);
    const auto window = [&](double accuracy) {
      constexpr uint64_t kImages = 2000;
      return guard.add(20, 20, 20.0, static_cast<uint64_t>(accuracy * kImages), kImages).code();
    };
    EXPECT_EQ(window(chance), Code::Ok) << classes << ": it has learned nothing yet";
    EXPECT_EQ(window(0.9), Code::Ok);
    EXPECT_EQ(window(0.7), Code::Ok) << classes << ": worse, but not chance";
    for (int windows = 1; windows < 4; ++windows) EXPECT_EQ(window(chance), Code::Ok) << classes;
    EXPECT_EQ(window(chance), Code::Invalid) << classes << ": it does not recover";
  }
}

// As LeNet's does when a second asynchronous worker joins at three times the usual learning rate.
TEST(DivergenceGuard, ADropFromWhichTheTrainingRecoversIsNoCollapse) {
  DivergenceGuard guard(0.1, 20);
  for (uint64_t correct : {397, 130, 110, 120, 190, 110, 100, 110, 300, 400})
    EXPECT_TRUE(guard.add(1, 20, 40, correct, 1000).ok()) << correct;
}

TEST(DivergenceGuard, LuckInSmallWindowsIsNoCollapse) {
  DivergenceGuard guard(0.5, 20);
  for (uint64_t correct : {26, 20, 25, 19, 20}) EXPECT_TRUE(guard.add(1, 20, 1, correct, 40).ok()) << correct;
}

// Nine of ten images are of one class: an accuracy of 90% is what guessing gets.
TEST(DivergenceGuard, ChanceIsTheShareOfTheLargestClass) {
  DivergenceGuard guard(0.9, 20);
  EXPECT_TRUE(guard.add(1, 20, 1, 1960, 2000).ok());
  for (int windows = 1; windows < 4; ++windows) EXPECT_TRUE(guard.add(2, 20, 1, 1800, 2000).ok());
  EXPECT_EQ(guard.add(2, 20, 1, 1800, 2000).code(), Code::Invalid);
  DivergenceGuard other(0.9, 20);
  EXPECT_TRUE(other.add(1, 20, 1, 1800, 2000).ok());
  EXPECT_TRUE(other.add(2, 20, 1, 1400, 2000).ok()) << "it never was better than guessing";
}

TEST(DivergenceGuard, ALossThatIsNotFiniteNamesTheRemedy) {
  for (double loss : {kNan, kInfinity}) {
    DivergenceGuard guard(0.1, 20);
    const Status bad = guard.add(7, 1, loss, 0, 10);
    EXPECT_EQ(bad.code(), Code::Invalid);
    EXPECT_NE(bad.hint().find("schedule.peak"), std::string::npos);
  }
}

TEST(History, NumbersThatAreNotFiniteAreReadAsTheyWere) {
  History written;
  written.curve.push_back({1, 10, 2.5, kInfinity, 0.5, kNan, 0.25, -kInfinity});
  written.train_loss = kNan;
  Result<History> read = read_history(write_history(written));
  ASSERT_TRUE(read.ok()) << read.status().text();
  const CurvePoint& point = read->curve.at(0);
  EXPECT_EQ(point.step, 10u);
  EXPECT_EQ(point.train_loss, kInfinity);
  EXPECT_TRUE(std::isnan(point.test_loss));
  EXPECT_EQ(point.rate, -kInfinity);
  EXPECT_TRUE(std::isnan(read->train_loss));
  EXPECT_EQ(read->train_accuracy, 0);
}

class DivergenceTest : public ClusterTest {
 protected:
  // Its weights grow by a factor of a thousand in each step, until their products are no numbers any more:
  // the loss of the last batch is finite, and then the test loss is not.
  Job exploding(const std::string& name, int steps) {
    Job j = job(name);
    j.dataset.train = 50;
    j.dataset.test = 20;
    j.epochs = steps;
    j.augment = {};
    j.schedule = {.name = "constant", .peak = 1000, .warmup = 0};
    j.optimizer = {.name = "sgd", .momentum = 0, .nesterov = false, .weight_decay = 1};
    j.evaluate.every_epochs = 0;
    j.checkpoint.share = 0;
    return j;
  }
  uint64_t newest(const std::string& name) {
    Result<std::optional<Checkpoint>> found = load_latest(folder_ + "/" + name + "/checkpoint");
    return found.ok() && *found ? (*found)->done() : 0;
  }
};

TEST_F(DivergenceTest, LeavesNoCheckpointAndRunsAgain) {
  int steps = 4;
  Status ended;
  for (; steps < 20; ++steps) {
    ended = run_job(exploding(std::to_string(steps), steps), {}).status();
    if (!ended.ok()) break;
    EXPECT_EQ(newest(std::to_string(steps)), static_cast<uint64_t>(steps));
  }
  const std::string name = std::to_string(steps);
  EXPECT_EQ(ended.code(), Code::Invalid) << ended.text();
  EXPECT_NE(ended.message().find("test loss"), std::string::npos) << ended.text();
  EXPECT_EQ(newest(name), static_cast<uint64_t>(steps - 1)) << "from before the update that went too far";
  EXPECT_FALSE(fs::exists(folder_ + "/" + name + "/model"));
  const auto evaluated = lines(name, "evaluated");
  ASSERT_EQ(evaluated.size(), 1u);
  EXPECT_TRUE(evaluated[0]["test_loss"] == "NaN" || evaluated[0]["test_loss"] == "Infinity") << evaluated[0];

  const Status again = run_job(exploding(name, steps), {}).status();
  EXPECT_EQ(again.code(), ended.code()) << again.text();
  EXPECT_EQ(again.message(), ended.message());

  // In a cluster and in a ring likewise.
  Job servers = exploding("servers", steps);
  Job addresses = cluster_job("addresses", SyncMode::Sync, 1, 1);
  servers.cluster = addresses.cluster;
  servers.sync = addresses.sync;
  servers.secrets = addresses.secrets;
  auto worker = std::async(std::launch::async, [&] { return run_job(member(servers, "worker", 0), {}); });
  EXPECT_EQ(run_job(member(servers, "ps", 0), {}).status().message(), ended.message());
  worker.wait();  // it has done its share, and may have ended before the chief evaluated
  EXPECT_LT(newest("servers"), static_cast<uint64_t>(steps));
  Job ring = exploding("ring", steps);
  ring.sync.mode = SyncMode::AllReduce;
  ring.cluster.worker = {own_address()};
  ring.secrets = addresses.secrets;
  ring.task = {"worker", 0};
  EXPECT_EQ(run_job(ring, {}).status().message(), ended.message());
  EXPECT_EQ(newest("ring"), static_cast<uint64_t>(steps - 1));
}

// The weights grow so fast that the loss of the last own step is finite and the weights after it are not; how
// fast that is depends on the rounding.
TEST_F(DivergenceTest, ASumOfOwnStepsThatIsNotFiniteIsNamed) {
  std::string why;
  for (double peak = 500; peak <= 1000 && why.find("a sum became") == std::string::npos; peak *= 1.08) {
    Job ring = exploding("ring", 14);
    ring.directories = {};
    ring.progress = "";
    ring.schedule.peak = peak;
    ring.sync.mode = SyncMode::AllReduce;
    ring.sync.local_steps = 14;
    ring.cluster.worker = {own_address()};
    ring.secrets = cluster_job("addresses", SyncMode::Sync, 1, 1).secrets;
    ring.task = {"worker", 0};
    why = run_job(ring, {}).status().message();
  }
  EXPECT_NE(why.find("a sum became infinite or not a number in the batches up to 13"), std::string::npos)
      << why;
}

// As versions wrote them that wrote null for what is not finite.
TEST_F(DivergenceTest, ACheckpointWithANullTestLossIsResumed) {
  Job j = job("a");
  j.epochs = 2;
  ASSERT_TRUE(run_job(j, {}).ok());
  Result<std::optional<Checkpoint>> found = load_latest(j.directories.checkpoint);
  ASSERT_TRUE(found.ok() && *found);
  nlohmann::json numbers = nlohmann::json::parse((*found)->numbers);
  numbers["curve"].at(0).at(5) = nullptr;
  (*found)->numbers = numbers.dump();
  Disk disk;
  ASSERT_TRUE(save_checkpoint(j.directories.checkpoint, **found, 2, disk).ok());
  j.epochs = 3;
  j.resume = Resume::Require;
  Result<RunSummary> resumed = run_job(j, {});
  ASSERT_TRUE(resumed.ok()) << resumed.status().text();
  EXPECT_EQ(resumed->resumed_from, 80u);
  const auto report = nlohmann::json::parse(*read_file(folder_ + "/a/model/report.json"));
  EXPECT_EQ(report["curve"].at(0)["test_loss"], "NaN");
  EXPECT_TRUE(report["curve"].at(2)["test_loss"].is_number());
}

}  // namespace
}  // namespace radl::engine
