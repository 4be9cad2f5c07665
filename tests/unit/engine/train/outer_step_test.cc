// The outer step, the choice between it and synchronous steps, and a worker whose exchange takes long.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "engine/train/choose_sync.h"
#include "engine/train/statistics.h"
#include "engine/train/strategy_ring.h"
#include "tests/unit/engine/train/train_case.h"

namespace radl::engine {
namespace {

TEST(OuterStep, KeepsWhatAMemberDidSinceTheExchangeBegan) {
  const OuterRule rule{.steps = 4, .delay = 2, .rate = 0.5f, .momentum = 0.5f};
  std::vector<float> anchor{1, 2}, velocity{0.5f, 0}, weights{4, 2.25f};
  // Two members' differences, 2 and 4 for the first number, by three steps each.
  const std::vector<float> sum{18, 0}, sent{3, 2};
  apply_outer_step(rule, sum, 1.0f / 6, sent, velocity, anchor, weights);
  EXPECT_EQ(velocity, (std::vector<float>{3.25f, 0}));                 // 0.5 * 0.5 + 3
  EXPECT_EQ(anchor, (std::vector<float>{1 + 0.5f * 4.625f, 2}));       // 3 + 0.5 * 3.25
  EXPECT_EQ(weights, (std::vector<float>{anchor[0] + 1, 2 + 0.25f}));  // its own progress
}

TEST(OuterStep, IsTheMeanWithoutMomentum) {
  std::vector<float> anchor{1}, weights{3};
  const std::vector<float> sum{6}, sent{3};
  apply_outer_step({}, sum, 0.5f, sent, {}, anchor, weights);
  EXPECT_EQ(anchor[0], 4);
  EXPECT_EQ(weights[0], 4);
}

TEST(OuterRule, HasDefaultsByWorkersAndShortRoundsAtTheEnd) {
  SyncSpec sync{.local_steps = 16, .delay = 4};
  EXPECT_FLOAT_EQ(outer_rule(sync, 2).momentum, 0.2f);
  EXPECT_FLOAT_EQ(outer_rule(sync, 8).momentum, 0.5f);
  sync.outer_momentum = 0;
  EXPECT_EQ(outer_rule(sync, 8).momentum, 0);
  sync = {.local_steps = 16};
  EXPECT_EQ(outer_rule(sync, 2), (OuterRule{.steps = 16}));
  const OuterRule delayed{.steps = 16, .delay = 2}, far{.steps = 64, .delay = 16}, plain{.steps = 16};
  EXPECT_EQ(delayed.steps_at(899, 1000), 16u);
  EXPECT_EQ(delayed.steps_at(900, 1000), 4u);
  EXPECT_EQ(far.steps_at(900, 1000), 16u);
  EXPECT_EQ(plain.steps_at(900, 1000), 16u);
}

TEST(OuterRule, IsRefusedWhereItHasNoMeaning) {
  const auto problem = [](const SyncSpec& sync) {
    Job j;
    j.dataset.directory = "d";
    j.sync = sync;
    return check_job(j).text();
  };
  const SyncMode ring = SyncMode::AllReduce;
  EXPECT_EQ(problem({.mode = ring, .local_steps = 4, .delay = 4, .outer_rate = 0.5, .outer_momentum = 0}),
            "");
  EXPECT_NE(problem({.mode = ring, .local_steps = 4, .delay = 5}).find("sync.delay"), std::string::npos);
  for (const SyncSpec& alone : {SyncSpec{.mode = ring, .delay = 1}, SyncSpec{.mode = ring, .outer_rate = 0.5},
                                SyncSpec{.mode = ring, .outer_momentum = 0.5}})
    EXPECT_NE(problem(alone).find("sync.local_steps"), std::string::npos);
  EXPECT_NE(problem({.mode = SyncMode::Auto, .local_steps = 4}).find("sync.local_steps"), std::string::npos);
}

// The mean squares of AdamW would become negative.
TEST(OuterRule, IsNotSentAsInt8WithMeanSquares) {
  const auto problem = [](const char* optimizer, const SyncSpec& sync) {
    Job j;
    j.dataset.directory = "d";
    j.optimizer.name = optimizer;
    j.sync = sync;
    j.sync.mode = SyncMode::AllReduce;
    return check_job(j).text();
  };
  const Encoding int8 = Encoding::Int8;
  EXPECT_NE(problem("adamw", {.gradients = int8, .local_steps = 4}).find("sync.gradients"),
            std::string::npos);
  EXPECT_EQ(problem("adamw", {.gradients = int8, .local_steps = 4, .delay = 1}), "");
  EXPECT_EQ(problem("adamw", {.gradients = int8}), "");
  EXPECT_EQ(problem("adamw", {.gradients = Encoding::Bf16, .local_steps = 4}), "");
  EXPECT_EQ(problem("sgd", {.gradients = int8, .local_steps = 4}), "");
}

LinkMeasure measure(double step, double exchange) {
  return {.workers = 2, .step_seconds = step, .exchange_seconds = exchange, .round_trip_seconds = exchange};
}

TEST(ChooseSync, TakesSynchronousStepsWhereTheyCostLittle) {
  EXPECT_FALSE(choose_sync({}, measure(0.1, 0.005)).delayed());
  EXPECT_GT(predicted_efficiency({}, measure(0.1, 0.005)), 0.95);
}

TEST(ChooseSync, HidesAnExchangeBehindAsManyStepsAsItTakes) {
  const LinkMeasure far = measure(0.095, 0.2);
  const SyncChoice choice = choose_sync({}, far);
  EXPECT_EQ(choice.rule.delay, 3u);
  EXPECT_EQ(choice.rule.steps, 16u);
  EXPECT_FLOAT_EQ(choice.rule.momentum, 0.2f);
  EXPECT_LT(predicted_efficiency({}, far), 0.35);
  EXPECT_DOUBLE_EQ(predicted_efficiency(choice, far), 1);
  const SyncChoice farther = choose_sync({}, measure(0.01, 0.2));
  EXPECT_EQ(farther.rule.delay, 20u);
  EXPECT_EQ(farther.rule.steps, 80u);
}

TEST(ChooseSync, NamesAMemberThatAllWaitFor) {
  EXPECT_EQ(slow_member(std::vector<double>{0.1, 0.31, 0.2}), 1);
  EXPECT_EQ(slow_member(std::vector<double>{0.1, 0.14}), -1);
  EXPECT_EQ(slow_member(std::vector<double>{0.3}), -1);
  EXPECT_EQ(slow_member(std::vector<double>{0.3, 0}), -1) << "the other one is not measured yet";
}

TEST(ChooseSync, KeepsItsChoiceUntilTheLinkChanges) {
  const SyncChoice far = choose_sync({}, measure(0.1, 0.2));
  EXPECT_EQ(choose_sync(far, measure(0.1, 0.15)).rule, far.rule);
  EXPECT_EQ(choose_sync(far, measure(0.1, 0.008)).rule, far.rule) << "not clearly better";
  EXPECT_FALSE(choose_sync(far, measure(0.1, 0.002)).delayed());
  EXPECT_GT(choose_sync(far, measure(0.1, 0.5)).rule.delay, far.rule.delay);
  EXPECT_EQ(choose_sync(far, measure(0.1, 0)).rule, far.rule) << "nothing measured";
}

// Two members whose sums end when the test lets them. The other one does what this one does.
class HeldParty : public cluster::Party {
 public:
  Status next_view(TrainingState& state, bool) override {
    state_ = state;
    view_ = {.epoch = view_.epoch + 1, .members = {{0, 1}, {1, 2}}};
    return {};
  }
  const cluster::View& view() const override { return view_; }
  uint32_t rank() const override { return 0; }
  Result<std::vector<cluster::RingNote>> sum(cluster::Contribution& part) override {
    part.wait();
    const cluster::RingNote own = part.note();
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_ > 0; });
    --released_;
    if (fails_) return Status(Code::Lost, "worker/1 is gone");
    for (float& v : part.numbers()) v *= 2;
    for (float& v : part.statistics()) v *= 2;
    cluster::RingNote other = own;
    other.rank = 1;
    return std::vector{own, other};
  }
  bool leads() const override { return rank() == 0; }
  bool has_successor() const override { return false; }
  void share(const std::string&) override {}
  std::string shared() const override { return ""; }
  cluster::Codec& codec() override { return *codec_; }
  bool broken() const override { return fails_; }
  Status wait_for_end() override { return {}; }
  bool finished() const override { return false; }
  cluster::Traffic traffic() const override { return {}; }
  std::vector<cluster::PeerChange> take_changes() override { return {}; }
  void stop(const Status&) override {}

  void release(bool fails = false) {
    std::lock_guard lock(mutex_);
    ++released_;
    fails_ = fails;
    changed_.notify_all();
  }
  void wait_until_begun(int sums) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= sums; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0, released_ = 0;
  std::atomic<bool> fails_ = false;
  cluster::View view_;
  TrainingState state_;
  std::unique_ptr<cluster::Codec> codec_ = cluster::Codec::make({});
};

class DelayedWorkerTest : public TrainTest {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    job_ = job("held");
    job_.model = "conv 4 stride=8\nbatchnorm\nrelu\nglobalavgpool\nlinear classes\n";
    job_.sync = {.mode = SyncMode::AllReduce, .local_steps = 6, .delay = 3, .outer_momentum = 0};
    setup_ = std::move(*engine::Setup::make(job_, true));
    progress_ = std::move(*Progress::open(job_, hooks_));
    learner_.emplace(*setup_->network, nullptr, WeightAverage(AverageConfig()));
    learner_->optimizer =
        std::move(*Optimizer::make(optimizer_config(job_), setup_->network->parameter_layout()));
    party_ = std::make_shared<HeldParty>();
    begin();
    gradients_.assign(setup_->network->parameters().size(), 1.0f);
  }

  void begin() {
    strategy_ = local_steps_over({job_, hooks_, *setup_, *learner_, *progress_}, std::nullopt, party_);
    TrainingState state = learner_->places().capture();
    ASSERT_TRUE(strategy_->begin(state).ok());
  }

  // The batches that this worker computes until it needs the sum of the exchange under way.
  std::vector<uint64_t> steps_until_it_waits() {
    std::vector<uint64_t> out;
    for (;;) {
      const Work work = test::need(strategy_->next());
      if (!work.batch) return out;
      out.push_back(*work.batch);
      Outcome outcome{.batch = *work.batch, .sums = {1, 10, 50, 1.0}, .gradients = gradients_};
      const Update update = test::need(strategy_->finish(&outcome));
      EXPECT_FALSE(update.border);
      setup_->network->parameters()[0] += 1;  // each step moves the first weight by one
      strategy_->applied(update);
    }
  }
  Update take_sum() {
    const Update update = test::need(strategy_->finish(nullptr));
    strategy_->applied(update);
    return update;
  }
  float weight() { return setup_->network->parameters()[0]; }

  Job job_;
  RunHooks hooks_;
  std::unique_ptr<engine::Setup> setup_;
  std::unique_ptr<Progress> progress_;
  std::optional<Learner> learner_;
  std::shared_ptr<HeldParty> party_;
  std::unique_ptr<RingStrategy> strategy_;
  std::vector<float> gradients_;
};

TEST_F(DelayedWorkerTest, GoesOnWhileTheExchangeRuns) {
  const float before = weight();
  // Six steps, and three more of the next round although nobody has answered.
  EXPECT_EQ(steps_until_it_waits(), (std::vector<uint64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16}));
  party_->wait_until_begun(1);
  party_->release();
  const Update update = take_sum();
  EXPECT_EQ(update.done, 12u);
  EXPECT_EQ(update.sums.steps, 12u);
  EXPECT_FLOAT_EQ(strategy_->shared_weights()[0], before + 6);
  EXPECT_FLOAT_EQ(weight(), before + 9) << "its three steps are kept";
  // The rest of the second round, and three of the third.
  EXPECT_EQ(steps_until_it_waits(), (std::vector<uint64_t>{18, 20, 22, 24, 26, 28}));
  party_->release();
  EXPECT_EQ(take_sum().done, 24u);
}

TEST_F(DelayedWorkerTest, GoesBackToItsBorderWhenAMemberIsLost) {
  const float before = weight();
  (void)steps_until_it_waits();
  party_->release(true);
  EXPECT_FALSE(strategy_->finish(nullptr).ok());
  EXPECT_TRUE(strategy_->broken());
  EXPECT_FLOAT_EQ(weight(), before);
  TrainingState state = learner_->places().capture();
  strategy_->store(state);
  EXPECT_EQ(state.done(), 0u);
  ASSERT_TRUE(strategy_->rejoin(state).ok());
  EXPECT_EQ(steps_until_it_waits().front(), 0u) << "its batches are computed again";
  party_->release();
  EXPECT_EQ(take_sum().done, 12u);
}

TEST_F(DelayedWorkerTest, NoticesAFailedExchangeBeforeItNeedsTheSum) {
  for (int i = 0; i < 6; ++i) {
    Result<Work> work = strategy_->next();
    ASSERT_TRUE(work.ok() && work->batch);
    Outcome outcome{.batch = *work->batch, .sums = {1, 10, 50, 1.0}, .gradients = gradients_};
    strategy_->applied(*strategy_->finish(&outcome));
  }
  ASSERT_TRUE(strategy_->next()->batch) << "the exchange runs, a step of the next round is due";
  party_->release(true);
  while (!party_->broken() || strategy_->next()->batch) std::this_thread::yield();
  EXPECT_FALSE(strategy_->finish(nullptr).ok());
}

// A worker that joins may have a longer list of workers in its job than the others have.
TEST_F(DelayedWorkerTest, TakesItsMomentumFromTheViewAndNotFromItsOwnList) {
  job_.sync.outer_momentum = SyncSpec().outer_momentum;
  for (int i = 0; i < 8; ++i) job_.cluster.worker.push_back("127.0.0.1:" + std::to_string(1000 + i));
  begin();
  const float before = weight();
  (void)steps_until_it_waits();
  party_->release();
  take_sum();
  EXPECT_FLOAT_EQ(strategy_->shared_weights()[0], before + 6 + 0.2f * 6);
}

TEST_F(DelayedWorkerTest, StoresTheStatisticsOfItsBorderAndAtTheEndThoseOfTheModel) {
  const std::span<float> now = setup_->network->statistics();
  const std::vector<float> at_border(now.begin(), now.end()), other(now.size(), 3.0f);
  ASSERT_NE(at_border, other);
  const auto stored = [&] {
    TrainingState state = learner_->places().capture();
    strategy_->store(state);
    return state.statistics;
  };
  (void)steps_until_it_waits();
  std::ranges::fill(now, 3.0f);
  EXPECT_EQ(stored(), at_border);
  party_->release();
  for (uint64_t done = take_sum().done; done < setup_->length.total; done = take_sum().done) {
    (void)steps_until_it_waits();
    party_->release();
  }
  EXPECT_TRUE(strategy_->holds_mean());
  std::ranges::fill(now, 4.0f);  // as recomputed for the evaluation
  EXPECT_EQ(stored(), std::vector<float>(now.size(), 4.0f));
}

class StatisticsTest : public TrainTest {};

TEST_F(StatisticsTest, AreThoseOfTheWeightsWhateverTheyWere) {
  Job j = job("statistics");
  j.model =
      "conv 8 stride=4\nbatchnorm momentum=0.3\nrelu\nbatchnorm frozen=yes\nglobalavgpool\nlinear classes\n";
  j.dataset.train = j.batch_size = 50;
  j.augment = {};
  auto setup = std::move(*engine::Setup::make(j, true));
  const std::vector<float> keep = statistics_keep(*setup->network);
  const auto recomputed = [&](float before) {
    const std::span<float> now = setup->network->statistics();
    std::fill(now.begin(), now.end(), before);
    EXPECT_TRUE(recompute_statistics(*setup, j, {}).ok());
    return std::vector<float>(now.begin(), now.end());
  };
  const std::vector<float> one = recomputed(1), other = recomputed(9);
  for (size_t i = 0; i < one.size(); ++i) {
    if (keep[i] < 1)
      EXPECT_EQ(one[i], other[i]) << i;
    else
      EXPECT_EQ(other[i], 9) << "frozen";
  }
  // Another step with the same images and weights changes nothing.
  auto batches = std::move(*make_loader(*setup, j));
  (void)setup->network->forward_backward(*batches->get(0));
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(setup->network->statistics()[i], other[i], 1e-4 * (1 + std::fabs(other[i]))) << i;
}

}  // namespace
}  // namespace radl::engine
