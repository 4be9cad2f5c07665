// What the strategies without servers share: a ring of workers, of which the first is the chief, that take
// the batches in turn and exchange sums. If a worker is lost or another one joins, all resume from the
// furthest border that one of them has (cluster/party.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>

#include "engine/cluster/party.h"
#include "engine/train/choose_sync.h"
#include "engine/train/strategy.h"

namespace radl::engine {

class RingStrategy : public Strategy {
 public:
  RingStrategy(const StrategyContext& context, std::shared_ptr<cluster::Party> party);

  Status begin(TrainingState& state) override;
  bool broken() const override { return party_->broken(); }
  Status rejoin(TrainingState& state) override;
  bool leads() const override { return party_->leads(); }
  void share(const SharedDuties& duties) override;
  SharedDuties shared() const override;
  std::vector<cluster::PeerChange> take_changes() override { return party_->take_changes(); }
  // Takes over at a border, from a strategy that leaves the members there. What that strategy measured and
  // rounded does not count any more.
  virtual void resume_from(const RingStrategy& other);
  // From now on the members tell each other with each exchange what a step and an exchange take.
  void measure(double step_seconds) { own_.step_seconds = step_seconds, measures_ = true; }
  // With the last exchange; the same for all members. A first one has no exchange time: 0.
  const LinkMeasure& measured() const { return measured_; }
  const std::vector<double>& step_seconds() const { return step_seconds_; }  // by rank
  void undo() override;
  void store(TrainingState& out) const override { out.next = done_; }
  bool hands_over() const override { return leads() && done_ < total_ && leaving(); }
  void end(const Status& why) override;
  cluster::Traffic traffic() const override { return party_->traffic(); }
  double exchange_seconds() const override { return exchange_seconds_; }

 protected:
  // Whether the run is over; of a worker, whether the chief says so. Lost: broken().
  Result<bool> over();
  // The first batch of the step after this border, and how many it has at `most`.
  uint64_t batches(uint64_t most) const { return std::min(most, total_ - done_); }
  // Takes part in the next view.
  Status seat(TrainingState& state, bool fresh);
  // Remembers the state at this border, as far as a step changes it before it is known to be good.
  void remember();
  // Counts a batch of this member in.
  void note(const TrainSums& sums);
  // True if this process was asked to stop; the others learn it from the exchange.
  bool stopping();
  // At a border, if this machine is about to be interrupted: this member leaves, and the others continue.
  bool leaving() const;
  // Adds everybody's numbers and statistics, in place. The update's sums are those of all members.
  Result<Update> exchange(uint64_t batches);
  // The same in two halves. The sum runs in a thread of its own; until finish_exchange(), leave `numbers_`
  // and `change_` alone and do not call the party.
  void begin_exchange();
  Result<Update> finish_exchange(uint64_t batches);
  bool exchanging() const { return sum_.valid(); }
  // The exchange that runs has failed already: finish_exchange() returns at once.
  bool exchange_failed() const { return exchange_failed_; }
  // statistics = those at the border + scale * the exchanged changes; `done` batches are done.
  void advance(float scale, uint64_t done);

  const RunHooks& hooks_;
  Learner& learner_;
  Network& network_;
  std::shared_ptr<cluster::Party> party_;
  const uint64_t total_;
  uint64_t rank_ = 0, size_ = 0;  // in the view
  uint64_t done_ = 0;
  bool at_border_ = false;               // no step has begun since
  std::vector<float> numbers_, change_;  // what is added up
  std::vector<float> before_;            // the statistics at the border
  cluster::RingNote note_;
  double exchange_seconds_ = 0;

 private:
  Result<std::vector<cluster::RingNote>> sum(cluster::RingNote own);
  void write_measure();
  void read_measure();

  bool measures_ = false;
  LinkMeasure own_, measured_;
  std::vector<double> step_seconds_;
  std::atomic<bool> exchange_failed_ = false;
  std::future<Result<std::vector<cluster::RingNote>>> sum_;  // last: its thread uses what is above
};

Result<std::unique_ptr<cluster::Party>> join_party(const StrategyContext& context);

// The strategies themselves, over a party that is there.
std::unique_ptr<RingStrategy> all_reduce_over(const StrategyContext& context,
                                              std::shared_ptr<cluster::Party> party);
// `rule`: nullopt: the job's, with its default momentum by the members of each view. All members know the
// view alike; the worker list in a member's own job may be longer than the others'.
std::unique_ptr<RingStrategy> local_steps_over(const StrategyContext& context,
                                               const std::optional<OuterRule>& rule,
                                               std::shared_ptr<cluster::Party> party);
std::unique_ptr<Strategy> auto_over(const StrategyContext& context, std::shared_ptr<cluster::Party> party);

}  // namespace radl::engine
