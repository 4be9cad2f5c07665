// Up to local_steps steps of its own on each worker, then the mean of weights and optimizer states (Yu, Jin
// and Yang, ICML 2019), each with the share of its steps.
#include <algorithm>
#include <cmath>

#include "engine/train/strategy_ring.h"

namespace radl::engine {
namespace {

class LocalSteps : public RingStrategy {
 public:
  LocalSteps(const StrategyContext& c, std::unique_ptr<cluster::Party> party)
      : RingStrategy(c, std::move(party)), each_(static_cast<uint64_t>(c.job.sync.local_steps)) {}

  Result<Work> next() override {
    Result<bool> end = over();
    if (!end) return std::move(end).status();
    if (*end) return Work{.finished = true};
    if (!own_) {
      remember();
      steps_before_ = learner_.optimizer->steps();
      start_.assign(network_.parameters().begin(), network_.parameters().end());
      const std::span<const float> state = learner_.optimizer->state();
      start_.insert(start_.end(), state.begin(), state.end());
      own_ = done_ + rank_;
    }
    const bool lost = !std::isfinite(note_.loss);  // all will see it
    if (lost || stopping() || *own_ >= done_ + batches(size_ * each_)) return Work{};
    return Work{.batch = *own_, .then = *own_ + size_};
  }

  Result<Update> finish(const Outcome* own) override {
    if (own != nullptr) {
      note(own->sums);
      *own_ += size_;
      const bool good = std::isfinite(own->sums.loss);
      return Update{
          .numbers = own->gradients, .optimizer_takes = good, .rate_of = own->batch, .border = false};
    }
    own_.reset();
    // A worker without a step of its own in this round adds nothing.
    changes_since(static_cast<float>(note_.steps));
    Result<Update> out = exchange(batches(size_ * each_));
    if (out.ok()) out->scale = static_cast<float>(1 / static_cast<double>(out->sums.steps));
    return out;
  }

  void applied(const Update& update) override {
    if (!update.border) return;
    const std::span<float> weights = network_.parameters(), state = learner_.optimizer->state();
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = start_[i] + update.scale * numbers_[i];
    for (size_t i = 0, at = weights.size(); i < state.size(); ++i, ++at)
      state[i] = start_[at] + update.scale * numbers_[at];
    learner_.optimizer->set_steps(steps_before_ + (update.done - done_ + size_ - 1) / size_);
    advance(update.scale, update.done);
  }

  void undo() override {
    RingStrategy::undo();
    own_.reset();
    const std::span<float> weights = network_.parameters(), state = learner_.optimizer->state();
    std::copy_n(start_.begin(), weights.size(), weights.begin());
    std::copy(start_.begin() + static_cast<long>(weights.size()), start_.end(), state.begin());
    learner_.optimizer->set_steps(steps_before_);
  }

 private:
  // What this worker's own steps changed, `share` times.
  void changes_since(float share) {
    const std::span<const float> weights = network_.parameters(), state = learner_.optimizer->state(),
                                 statistics = network_.statistics();
    numbers_.resize(start_.size());
    for (size_t i = 0; i < weights.size(); ++i) numbers_[i] = share * (weights[i] - start_[i]);
    for (size_t i = 0, at = weights.size(); i < state.size(); ++i, ++at)
      numbers_[at] = share * (state[i] - start_[at]);
    change_.resize(before_.size());
    for (size_t i = 0; i < change_.size(); ++i) change_[i] = share * (statistics[i] - before_[i]);
  }

  const uint64_t each_;
  std::optional<uint64_t> own_;  // this worker's next batch of the round
  std::vector<float> start_;     // weights and optimizer state at the border
  uint64_t steps_before_ = 0;
};

}  // namespace

StrategyResult make_local_steps(const StrategyContext& context) {
  Result<std::unique_ptr<cluster::Party>> party = join_party(context);
  if (!party) return std::move(party).status();
  return StrategyResult(std::make_unique<LocalSteps>(context, std::move(*party)));
}

}  // namespace radl::engine
