// Base of the strategies without servers: workers in a ring, of which the first is the chief, take batches in
// turn and exchange sums. If a worker is lost or joins, all resume from the furthest border of any of them
// (cluster/party.h).
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
  // After an exception in a step, the exchange must not wait for the rest of its numbers.
  ~RingStrategy() override {
    if (own_part_) own_part_->abandon();
  }

  Status begin(TrainingState& state) override;
  bool broken() const override { return party_->broken(); }
  Status rejoin(TrainingState& state) override;
  bool leads() const override { return party_->leads(); }
  void share(const SharedDuties& duties) override;
  SharedDuties shared() const override;
  std::vector<cluster::PeerChange> take_changes() override { return party_->take_changes(); }
  // Takes over from another strategy at a border. Discards that strategy's measurements and rounding
  // errors.
  virtual void resume_from(const RingStrategy& other);
  // From now on, members report the duration of a step and of an exchange with each exchange.
  void measure(double step_seconds) { own_.step_seconds = step_seconds, measures_ = true; }
  // Measured with the last exchange; equal on all members. The first has exchange time 0.
  const LinkMeasure& measured() const { return measured_; }
  const std::vector<double>& step_seconds() const { return step_seconds_; }  // by rank
  void undo() override;
  void store(TrainingState& out) const override { out.next = done_; }
  bool hands_over() const override { return leads() && done_ < total_ && leaving(); }
  void end(const Status& why) override;
  cluster::Traffic traffic() const override { return party_->traffic(); }
  double exchange_seconds() const override { return exchange_seconds_; }

 protected:
  // True if the run is over; a worker asks the chief. Lost: broken().
  Result<bool> over();
  // Number of batches of the step after this border, at most `most`.
  uint64_t batches(uint64_t most) const { return std::min(most, total_ - done_); }
  // Joins the next view.
  Status seat(TrainingState& state, bool fresh);
  // Saves the part of the state at this border that a step changes before it is known to be valid.
  void remember();
  // Adds a batch of this member to the sums.
  void note(const TrainSums& sums);
  // True if this process was asked to stop; the exchange tells the others.
  bool stopping();
  // At a border, if this machine is about to be interrupted: this member leaves, and the others continue.
  bool leaving() const;
  // Begins to add the numbers and statistics of all members, in place, on a background thread. Until
  // finish_exchange(), do not call the party.
  void begin_exchange();
  // The same before `numbers_` are final: announce() says which are. Then complete_exchange(), and
  // finish_exchange().
  void begin_exchange_early();
  void announce(size_t begin, size_t end) { own_part_->announce(begin, end); }
  // All numbers and statistics are final.
  void complete_exchange();
  // The update has the sums of all members.
  Result<Update> finish_exchange(uint64_t batches);
  bool exchanging() const { return sum_.valid(); }
  // True if the running exchange has failed, so that finish_exchange() returns immediately.
  bool exchange_failed() const { return exchange_failed_; }
  // statistics = those at the border + scale * the exchanged changes. `done` batches are done.
  void advance(float scale, uint64_t done);

  const RunHooks& hooks_;
  Learner& learner_;
  Network& network_;
  std::shared_ptr<cluster::Party> party_;
  const uint64_t total_;
  uint64_t rank_ = 0, size_ = 0;  // in the view
  uint64_t done_ = 0;
  bool at_border_ = false;               // no step has begun since
  std::vector<float> numbers_, change_;  // summed over the members
  std::vector<float> before_;            // the statistics at the border
  cluster::RingNote note_;
  double exchange_seconds_ = 0;

 private:
  Result<std::vector<cluster::RingNote>> sum();
  void write_measure();
  void read_measure();

  bool measures_ = false;
  LinkMeasure own_, measured_;
  std::vector<double> step_seconds_;
  std::atomic<bool> exchange_failed_ = false;
  std::optional<cluster::Contribution> own_part_;            // of the sum that runs
  std::future<Result<std::vector<cluster::RingNote>>> sum_;  // last member: its thread uses those above
};

Result<std::unique_ptr<cluster::Party>> join_party(const StrategyContext& context);

// The strategies over an existing party.
std::unique_ptr<RingStrategy> all_reduce_over(const StrategyContext& context,
                                              std::shared_ptr<cluster::Party> party);
// `rule`: nullopt means the job's rule, with the default momentum for each view's size. All members know the
// same view, while the worker list of a member's own job may be longer.
std::unique_ptr<RingStrategy> local_steps_over(const StrategyContext& context,
                                               const std::optional<OuterRule>& rule,
                                               std::shared_ptr<cluster::Party> party);
std::unique_ptr<Strategy> auto_over(const StrategyContext& context, std::shared_ptr<cluster::Party> party);

}  // namespace radl::engine
