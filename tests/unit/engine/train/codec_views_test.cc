// What a member has left out of its sums, from one view to the next.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "engine/train/strategy_ring.h"
#include "tests/unit/engine/train/train_case.h"

namespace radl::engine {
namespace {

// Its first sum is done; then the members change, before another one begins. A third one has joined, and
// worker/1 hands over its state.
class OneSumParty : public cluster::Party {
 public:
  Status next_view(TrainingState& state, bool) override {
    state.next += ahead;
    if (ahead > 0) state.optimizer.clear();
    view_ = {
        .epoch = view_.epoch + 1, .members = {{0, 1}, {1, 2}, {2, 3}}, .hand_over = hands_over, .source = 1};
    return {};
  }
  const cluster::View& view() const override { return view_; }
  uint32_t rank() const override { return 0; }
  Result<std::vector<cluster::RingNote>> sum(cluster::Contribution& own) override {
    own.wait();
    if (summed_) return Status(Code::Lost, "the members change");
    summed_ = true;
    RoundingRing ring;
    if (Status done = codec_->sum(ring, own); !done.ok()) return done;
    return std::vector{own.note()};
  }
  bool leads() const override { return leading; }
  bool has_successor() const override { return false; }
  void share(const std::string&) override {}
  std::string shared() const override { return ""; }
  cluster::Codec& codec() override { return *codec_; }
  bool broken() const override { return summed_; }
  Status wait_for_end() override { return {}; }
  bool finished() const override { return false; }
  cluster::Traffic traffic() const override { return {}; }
  std::vector<cluster::PeerChange> take_changes() override { return {}; }
  void stop(const Status&) override {}

  bool leading = true, hands_over = true;
  uint64_t ahead = 0;  // batches, of worker/1

 private:
  // Leaves out 1 of each number.
  struct RoundingRing : cluster::Exchange {
    Status add(cluster::Numbers, cluster::Contribution&, std::span<float> residue) override {
      std::ranges::fill(residue, 1.0f);
      return {};
    }
    Result<std::vector<std::string>> gather(std::string_view own) override {
      return std::vector{std::string(own)};
    }
  };
  bool summed_ = false;
  cluster::View view_;
  std::unique_ptr<cluster::Codec> codec_ = cluster::Codec::make({.numbers = cluster::Numbers::Int8});
};

class CodecViewsTest : public TrainTest {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    job_ = job("views");
    job_.model = "globalavgpool\nlinear classes\n";
    job_.sync = {.mode = SyncMode::AllReduce, .gradients = Encoding::Int8};
    setup_ = std::move(*engine::Setup::make(job_, true));
    progress_ = std::move(*Progress::open(job_, hooks_));
    learner_.emplace(*setup_->network, nullptr, WeightAverage(AverageConfig()));
    learner_->optimizer =
        std::move(*Optimizer::make(optimizer_config(job_), setup_->network->parameter_layout()));
    party_ = std::make_shared<OneSumParty>();
    strategy_ = all_reduce_over({job_, hooks_, *setup_, *learner_, *progress_}, party_);
  }

  Job job_;
  RunHooks hooks_;
  std::unique_ptr<engine::Setup> setup_;
  std::unique_ptr<Progress> progress_;
  std::optional<Learner> learner_;
  std::shared_ptr<OneSumParty> party_;
  std::unique_ptr<RingStrategy> strategy_;
};

TEST_F(CodecViewsTest, WhatAMemberLeftOutOfASumThatCountsIsKeptWithThatSum) {
  TrainingState state = learner_->places().capture();
  ASSERT_TRUE(strategy_->begin(state).ok());
  const std::vector<float> gradients(setup_->network->parameters().size(), 1.0f);
  const auto exchange = [&] {
    const Work work = test::need(strategy_->next());
    const Outcome outcome{.batch = *work.batch, .sums = {1, 10, 50, 1.0}, .gradients = gradients};
    return strategy_->finish(&outcome);
  };
  strategy_->applied(test::need(exchange()));
  const std::vector<std::vector<float>> left_out = party_->codec().state();
  EXPECT_EQ(left_out, std::vector(1, std::vector<float>(gradients.size(), 1.0f)));
  EXPECT_EQ(exchange().status().code(), Code::Lost);
  EXPECT_EQ(party_->codec().state(), left_out) << "there was no sum";
  const auto rejoin = [&] {
    TrainingState now = learner_->places().capture();
    strategy_->store(now);
    EXPECT_TRUE(strategy_->rejoin(now).ok());
    return party_->codec().state();
  };
  EXPECT_EQ(rejoin(), left_out) << "worker/1 is at the same border";
  party_->ahead = 2;
  EXPECT_TRUE(rejoin().empty()) << "the others did a sum without this member";
}

// The view in which it got the state ended at once; in the next one, all are at the same border.
TEST_F(CodecViewsTest, AJoinerDoesNotTakeWhatAnotherMemberLeftOut) {
  party_->leading = party_->hands_over = false;
  TrainingState state = learner_->places().capture();
  state.optimizer.emplace_back(setup_->network->parameters().size(), 1.0f);
  ASSERT_TRUE(strategy_->begin(state).ok());
  EXPECT_TRUE(party_->codec().state().empty());
}

}  // namespace
}  // namespace radl::engine
