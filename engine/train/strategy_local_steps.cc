// Each worker takes steps of its own, then all apply the same outer step (outer_step.h). With a delay, a
// worker continues during the exchange, so network latency costs nothing.
//
// A border is the state after an outer step: the anchor, its statistics and its velocity. A worker that
// returns to it loses its steps since the last exchange; their batches are computed again. Without a delay,
// the optimizer's state is averaged too, and a border is the whole state of every worker.
#include <algorithm>
#include <cmath>

#include "engine/train/outer_step.h"
#include "engine/train/strategy_ring.h"

namespace radl::engine {
namespace {

class LocalSteps : public RingStrategy {
 public:
  LocalSteps(const StrategyContext& c, const std::optional<OuterRule>& rule,
             std::shared_ptr<cluster::Party> party)
      : RingStrategy(c, std::move(party)),
        sync_(c.job.sync),
        given_(rule),
        rule_(rule.value_or(OuterRule())) {}

  Status begin(TrainingState& state) override {
    Status begun = RingStrategy::begin(state);
    begin_view(state);
    return begun;
  }

  Status rejoin(TrainingState& state) override {
    Status joined = RingStrategy::rejoin(state);
    begin_view(state);
    anchor_.clear();
    return joined;
  }

  void resume_from(const RingStrategy& other) override {
    RingStrategy::resume_from(other);
    reset_velocity();
    anchor_.clear();
  }

  Result<Work> next() override {
    if (!exchanging()) {
      Result<bool> end = over();
      if (!end) return std::move(end).status();
      if (*end) return Work{.finished = true};
      if (anchor_.empty()) start();
      if (round_over()) send_round();
    }
    if (exchanging() && (own_steps_ >= rule_.delay || round_over() || exchange_failed())) return Work{};
    return Work{.batch = own_, .then = own_ + size_};
  }

  Result<Update> finish(const Outcome* own) override {
    if (own != nullptr) {
      note(own->sums);
      own_ += size_;
      ++own_steps_;
      at_border_ = false;
      const bool good = std::isfinite(own->sums.loss);
      return Update{
          .numbers = own->gradients, .optimizer_takes = good, .rate_of = own->batch, .border = false};
    }
    Result<Update> out = finish_exchange(first_ - done_);
    if (out.ok()) out->scale = static_cast<float>(1 / static_cast<double>(out->sums.steps));
    return out;
  }

  void applied(const Update& update) override {
    if (!update.border) return;
    const std::span<float> weights = network_.parameters(), statistics = network_.statistics();
    // All end at the mean itself.
    const OuterRule rule = update.done == total_ ? OuterRule() : rule_;
    const size_t n = weights.size();
    const std::span<const float> sum = numbers_, sent = sent_;
    const std::span<float> anchor = anchor_, state = shared_state();
    apply_outer_step(rule, sum.first(n), update.scale, sent.first(n),
                     rule.momentum > 0 ? std::span<float>(velocity_) : std::span<float>(), anchor.first(n),
                     weights);
    apply_outer_step(OuterRule(), sum.subspan(n), update.scale, sent.subspan(n), {}, anchor.subspan(n),
                     state);
    apply_outer_step(OuterRule(), change_, update.scale, sent_statistics_, {}, before_, statistics);
    if (rule_.delay == 0)
      learner_.optimizer->set_steps(steps_before_ + (update.done - done_ + size_ - 1) / size_);
    steps_before_ = learner_.optimizer->steps();
    done_ = update.done;
    at_border_ = true;
  }

  void undo() override {
    if (anchor_.empty()) return;
    RingStrategy::undo();
    const auto n = static_cast<long>(network_.parameters().size());
    std::copy_n(anchor_.begin(), n, network_.parameters().begin());
    std::copy(anchor_.begin() + n, anchor_.end(), shared_state().begin());
    if (rule_.delay == 0) learner_.optimizer->set_steps(steps_before_);
    begin_round(done_);
  }

  void store(TrainingState& out) const override {
    RingStrategy::store(out);
    if (!velocity_.empty()) out.optimizer.push_back(velocity_);
    if (anchor_.empty()) return;
    std::copy_n(anchor_.begin(), out.weights.size(), out.weights.begin());
    // At the end, the network has the statistics with which the model is evaluated and exported.
    if (done_ < total_) out.statistics = before_;
  }

  std::span<const float> shared_weights() const override {
    return std::span(anchor_).first(std::min(anchor_.size(), network_.parameters().size()));
  }

  bool holds_mean() const override { return size_ > 1; }

 private:
  // From a border: what the network holds is what all share.
  void start() {
    anchor_.assign(network_.parameters().begin(), network_.parameters().end());
    const std::span<const float> state = shared_state();
    anchor_.insert(anchor_.end(), state.begin(), state.end());
    before_.assign(network_.statistics().begin(), network_.statistics().end());
    steps_before_ = learner_.optimizer->steps();
    begin_round(done_);
  }

  void begin_round(uint64_t first) {
    note_ = {};
    first_ = first;
    const uint64_t steps = rule_.steps_at(first, total_);
    end_ = first + std::min(size_ * steps, total_ - first);
    own_ = first + rank_;
    own_steps_ = 0;
  }

  bool round_over() {
    const bool lost = !std::isfinite(note_.loss);  // all will see it
    return lost || stopping() || own_ >= end_;
  }

  // Begins the exchange of what the round changed, and the next round.
  void send_round() {
    // A worker without a step of its own in this round adds nothing.
    const auto share = static_cast<float>(note_.steps);
    const std::span<const float> weights = network_.parameters(), state = shared_state(),
                                 statistics = network_.statistics();
    sent_.assign(weights.begin(), weights.end());
    sent_.insert(sent_.end(), state.begin(), state.end());
    sent_statistics_.assign(statistics.begin(), statistics.end());
    numbers_.resize(sent_.size());
    for (size_t i = 0; i < sent_.size(); ++i) numbers_[i] = share * (sent_[i] - anchor_[i]);
    change_.resize(statistics.size());
    for (size_t i = 0; i < change_.size(); ++i) change_[i] = share * (statistics[i] - before_[i]);
    begin_exchange();
    begin_round(end_);
  }

  // The part of the optimizer's state that is averaged.
  std::span<float> shared_state() {
    return rule_.delay == 0 ? learner_.optimizer->state() : std::span<float>();
  }

  void reset_velocity() { velocity_.assign(rule_.momentum > 0 ? network_.parameters().size() : 0, 0.0f); }

  // The velocity travels after the optimizer's own vectors; the caller drops it from the state.
  void begin_view(TrainingState& state) {
    if (!given_) rule_ = outer_rule(sync_, size_);
    reset_velocity();
    const bool extra = state.optimizer.size() > learner_.places().vectors();
    if (extra && state.optimizer.back().size() == velocity_.size())
      velocity_ = std::move(state.optimizer.back());
  }

  const SyncSpec& sync_;
  const std::optional<OuterRule> given_;
  OuterRule rule_;
  std::vector<float> anchor_;  // weights, and the shared part of the optimizer's state; empty: before start()
  std::vector<float> velocity_;                // empty without momentum
  std::vector<float> sent_, sent_statistics_;  // this worker's own when the exchange began
  uint64_t first_ = 0, end_ = 0;               // batches of the round, of all workers
  uint64_t own_ = 0, own_steps_ = 0;           // this worker's next batch, and its steps in the round
  uint64_t steps_before_ = 0;                  // of the optimizer, at the border
};

}  // namespace

StrategyResult make_local_steps(const StrategyContext& context) {
  Result<std::unique_ptr<cluster::Party>> party = join_party(context);
  if (!party) return std::move(party).status();
  return StrategyResult(local_steps_over(context, std::nullopt, std::move(*party)));
}

std::unique_ptr<RingStrategy> local_steps_over(const StrategyContext& context,
                                               const std::optional<OuterRule>& rule,
                                               std::shared_ptr<cluster::Party> party) {
  return std::make_unique<LocalSteps>(context, rule, std::move(party));
}

}  // namespace radl::engine
