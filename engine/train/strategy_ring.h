// What the strategies without servers share: a ring of workers, of which the first is the chief, that take
// the batches in turn and exchange sums.
#pragma once

#include <algorithm>

#include "engine/cluster/ring.h"
#include "engine/train/strategy.h"

namespace radl::engine {

class RingStrategy : public Strategy {
 public:
  RingStrategy(const StrategyContext& context, std::unique_ptr<cluster::Ring> ring);

  Status begin(TrainingState& state) override;
  void undo() override;
  void store(TrainingState& out) const override { out.next = done_; }
  void end(const Status& why) override;
  cluster::Traffic traffic() const override { return ring_->traffic(); }
  double exchange_seconds() const override { return exchange_seconds_; }

 protected:
  // The first batch of the step after this border, and how many it has at `most`.
  uint64_t batches(uint64_t most) const { return std::min(most, total_ - done_); }
  // Remembers the state at this border, as far as a step changes it before it is known to be good.
  void remember();
  // Counts a batch of this member in.
  void note(const TrainSums& sums);
  // True if this process was asked to stop; the others learn it from the exchange.
  bool stopping();
  // Adds everybody's numbers and statistics, in place. The update's sums are those of all members.
  Result<Update> exchange(uint64_t batches);
  // statistics = those at the border + scale * the exchanged changes; `done` batches are done.
  void advance(float scale, uint64_t done);

  const RunHooks& hooks_;
  Learner& learner_;
  Network& network_;
  std::unique_ptr<cluster::Ring> ring_;
  const uint64_t rank_, size_, total_;
  uint64_t done_ = 0;
  std::vector<float> numbers_, change_;  // what is added up
  std::vector<float> before_;            // the statistics at the border
  cluster::RingNote note_;
  double exchange_seconds_ = 0;
};

Result<std::unique_ptr<cluster::Ring>> make_ring(const StrategyContext& context);

}  // namespace radl::engine
