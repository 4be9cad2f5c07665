// Two members of mode "auto" in two threads: whatever they choose and lose, they end with the same weights.
#include <algorithm>
#include <barrier>
#include <optional>

#include "engine/train/strategy_ring.h"
#include "tests/unit/engine/train/train_case.h"

namespace radl::engine {
namespace {

constexpr uint32_t kMembers = 2;
constexpr size_t kMeasures = 3;  // that a member adds to the statistics: of a step, an exchange, a round trip

// What the two members exchange, and what they are told that it took.
class Meeting {
 public:
  int far = 0;    // so many sums seem to take ten steps each, the others next to nothing
  int lost = -1;  // the number of the sum that fails, from 0

  // Adds both members' numbers, in both.
  bool sum(uint32_t rank, std::span<float> numbers, std::span<float> statistics) {
    mine_[rank] = {numbers, statistics};
    together_.arrive_and_wait();
    if (rank == 0) add();
    together_.arrive_and_wait();
    return !failed_;
  }
  // Both members are between two sums.
  void wait() { together_.arrive_and_wait(); }

 private:
  struct Numbers {
    std::span<float> numbers, statistics;
  };
  void add() {
    failed_ = sums_ == lost;
    for (const auto part : {&Numbers::numbers, &Numbers::statistics}) {
      const std::span<float> a = mine_[0].*part, b = mine_[1].*part;
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = a[i] + b[i];
    }
    for (const Numbers& one : mine_) {
      const size_t begin = one.statistics.size() - kMeasures * kMembers;
      for (size_t at = begin; at < one.statistics.size(); at += kMeasures) {
        one.statistics[at] = 0.1f;
        if (one.statistics[at + 1] > 0) one.statistics[at + 1] = sums_ < far ? 1.0f : 0.001f;
      }
    }
    ++sums_;
  }

  std::barrier<> together_{kMembers};
  Numbers mine_[kMembers];
  int sums_ = 0;
  bool failed_ = false;
};

class PairedParty : public cluster::Party {
 public:
  PairedParty(Meeting& meeting, uint32_t rank) : meeting_(meeting), rank_(rank) {}
  // As after the loss of a third member: both are at the same border, and nothing is handed over.
  Status next_view(TrainingState&, bool) override {
    meeting_.wait();
    view_ = {.epoch = view_.epoch + 1, .members = {{0, 1}, {1, 2}}};
    broken_ = false;
    return {};
  }
  const cluster::View& view() const override { return view_; }
  uint32_t rank() const override { return rank_; }
  Result<std::vector<cluster::RingNote>> sum(cluster::Contribution& part) override {
    part.wait();
    const cluster::RingNote own = part.note();
    if (!meeting_.sum(rank_, part.numbers(), part.statistics())) {
      broken_ = true;
      return Status(Code::Lost, "worker/2 is gone");
    }
    std::vector<cluster::RingNote> notes{own, own};  // both do the same number of steps
    for (uint32_t i = 0; i < kMembers; ++i) notes[i].rank = i;
    return notes;
  }
  bool leads() const override { return rank() == 0; }
  bool has_successor() const override { return false; }
  void share(const std::string&) override {}
  std::string shared() const override { return ""; }
  cluster::Codec& codec() override { return codec_; }
  int drops() const { return codec_.drops; }
  bool broken() const override { return broken_; }
  Status wait_for_end() override { return {}; }
  bool finished() const override { return false; }
  cluster::Traffic traffic() const override { return {}; }
  std::vector<cluster::PeerChange> take_changes() override { return {}; }
  void stop(const Status&) override {}

 private:
  Meeting& meeting_;
  const uint32_t rank_;
  cluster::View view_;
  std::atomic<bool> broken_ = false;
  struct CountingCodec : cluster::Codec {
    Status add(cluster::Exchange&, cluster::Contribution&) override { return {}; }
    void swap() override {}
    void take(std::span<const std::vector<float>>, bool) override { ++drops; }
    int drops = 0;
  } codec_;
};

// A member with gradients that differ from batch to batch; it does with updates what a training does.
class Member {
 public:
  Member(const Job& job, Meeting& meeting, uint32_t rank) : job_(job), rank_(rank) {
    job_.task.index = static_cast<int>(rank);
    hooks_.progress = [this](std::string_view line) {
      const nlohmann::json said = nlohmann::json::parse(line);
      if (said["event"] == "strategy") choices.push_back(said["choice"]);
    };
    setup_ = std::move(*Setup::make(job_, true));
    progress_ = std::move(*Progress::open(job_, hooks_));
    learner_.emplace(*setup_->network, nullptr, WeightAverage(AverageConfig()));
    learner_->optimizer =
        std::move(*Optimizer::make(optimizer_config(job_), setup_->network->parameter_layout()));
    party = std::make_shared<PairedParty>(meeting, rank);
    strategy_ = auto_over({job_, hooks_, *setup_, *learner_, *progress_}, party);
    gradients_.assign(setup_->network->parameters().size(), 0.0f);
  }

  void train() {
    TrainingState state = learner_->places().capture();
    ASSERT_TRUE(strategy_->begin(state).ok());
    for (;;) {
      Result<Work> work = strategy_->next();
      ASSERT_TRUE(work.ok()) << work.status().text();
      if (work->finished) return;
      const Outcome outcome = work->batch ? step(*work->batch) : Outcome();
      Result<Update> update = strategy_->finish(work->batch ? &outcome : nullptr);
      if (!update.ok()) {
        ASSERT_TRUE(strategy_->broken()) << update.status().text();
        rejoin();
        continue;
      }
      if (update->optimizer_takes)
        learner_->optimizer->step(learner_->network.parameters(), update->numbers, 0.01f, update->scale);
      strategy_->applied(*update);
    }
  }
  std::vector<float> weights() const {
    const std::span<const float> now = learner_->network.parameters();
    return {now.begin(), now.end()};
  }
  std::vector<float> momenta() const {
    const std::span<const float> now = learner_->optimizer->state();
    return {now.begin(), now.end()};
  }

  std::vector<std::string> choices;
  std::vector<float> momenta_when_lost;  // with which it would have gone on
  std::shared_ptr<PairedParty> party;

 private:
  Outcome step(uint64_t batch) {
    for (size_t i = 0; i < gradients_.size(); ++i)
      gradients_[i] = 0.1f * static_cast<float>((batch * 7 + i) % 5) - 0.15f;
    return {.batch = batch, .sums = {1, 10, 50, 1.0}, .gradients = gradients_};
  }
  void rejoin() {
    momenta_when_lost = momenta();
    TrainingState state = learner_->places().capture();
    strategy_->store(state);
    ASSERT_TRUE(strategy_->rejoin(state).ok());
    ASSERT_TRUE(learner_->places().restore(state).ok());
  }

  Job job_;
  const uint32_t rank_;
  RunHooks hooks_;
  std::unique_ptr<Setup> setup_;
  std::unique_ptr<Progress> progress_;
  std::optional<Learner> learner_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<float> gradients_;
};

class PairedMembersTest : public TrainTest, public testing::WithParamInterface<const char*> {
 protected:
  // A whole run of both members.
  void train() {
    Job j = job("paired");
    j.progress = "";
    j.directories = {};
    j.optimizer.name = GetParam();
    j.sync.mode = SyncMode::Auto;
    j.epochs = 16;
    for (uint32_t rank = 0; rank < kMembers; ++rank)
      members_.push_back(std::make_unique<Member>(j, meeting_, rank));
    std::vector<std::future<void>> threads;
    for (auto& member : members_)
      threads.push_back(std::async(std::launch::async, [&member] { member->train(); }));
    for (auto& thread : threads) thread.get();
  }
  void expect_equal_members() {
    EXPECT_EQ(members_[0]->weights(), members_[1]->weights());
    EXPECT_EQ(members_[0]->momenta(), members_[1]->momenta());
  }

  Meeting meeting_;
  std::vector<std::unique_ptr<Member>> members_;
};

TEST_P(PairedMembersTest, HaveTheSameWeightsAfterADelayedPhase) {
  meeting_.far = 6;
  train();
  EXPECT_EQ(members_[0]->choices, (std::vector<std::string>{"outer_step", "synchronous"}));
  expect_equal_members();
  for (const auto& member : members_) EXPECT_EQ(member->party->drops(), 2) << "one for each change";
}

TEST_P(PairedMembersTest, HaveTheSameWeightsAfterALossInADelayedPhase) {
  meeting_.far = 6;
  meeting_.lost = 5;
  train();
  EXPECT_EQ(members_[0]->choices, (std::vector<std::string>{"outer_step", "synchronous"}));
  EXPECT_NE(members_[0]->momenta_when_lost, members_[1]->momenta_when_lost) << "each had its own";
  expect_equal_members();
}

INSTANTIATE_TEST_SUITE_P(Optimizers, PairedMembersTest, testing::Values("sgd", "adamw"));

}  // namespace
}  // namespace radl::engine
