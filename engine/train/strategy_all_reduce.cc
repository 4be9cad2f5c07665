// One batch from each worker (at the run's end from the first of them), one update with their mean.
#include "common/clock.h"
#include "engine/train/hints.h"
#include "engine/train/strategy_ring.h"

namespace radl::engine {
namespace {

class AllReduce : public RingStrategy {
 public:
  AllReduce(const StrategyContext& c, std::shared_ptr<cluster::Party> party)
      : RingStrategy(c, std::move(party)),
        batch_size_(c.job.batch_size),
        length_(c.setup.length),
        overlaps_(c.job.sync.overlap),
        alone_(c.job.sync.mode == SyncMode::AllReduce),
        hints_(c.progress, c.job.sync.gradients, true) {}

  Status begin(TrainingState& state) override {
    const bool own = leads();  // else another member's state comes
    Status begun = RingStrategy::begin(state);
    if (!begun.ok() || !alone_) return begun;
    begin_view();
    take_codec(state, own);
    return begun;
  }

  Status rejoin(TrainingState& state) override {
    if (!alone_) return RingStrategy::rejoin(state);
    const uint64_t border = done_;
    if (Status joined = seat(state, false); !joined.ok()) return joined;
    begin_view();
    // Members at the same border have completed the same sums, so each keeps what it left out of them.
    if (done_ != border) take_codec(state, false);
    return {};
  }

  void store(TrainingState& out) const override {
    RingStrategy::store(out);
    if (!alone_) return;
    for (std::vector<float>& vector : party_->codec().state()) out.optimizer.push_back(std::move(vector));
  }

  Result<Work> next() override {
    Result<bool> end = over();
    if (!end) return std::move(end).status();
    if (*end) return Work{.finished = true};
    remember();
    if (stopping() || rank_ >= batches(size_)) return Work{};
    step_began_ = SteadyClock::now();
    return Work{.batch = done_ + rank_, .then = done_ + size_ + rank_};
  }

  // All members send the same buckets in the same order, whenever each of them begins.
  void ready(const ReadyGradients& ready) override {
    if (!overlaps_) return;
    if (!exchanging()) begin_sum();
    take(ready);
    announce(ready.begin, ready.end);
  }

  Result<Update> finish(const Outcome* own) override {
    change_.assign(before_.size(), 0.0f);
    if (own != nullptr) {
      if (alone_) measure(seconds_since(step_began_));
      note(own->sums);
      const float weight = share_of(own->sums.images);
      const std::span<const float> statistics = network_.statistics();
      for (size_t i = 0; i < change_.size(); ++i) change_[i] = weight * (statistics[i] - before_[i]);
    }
    if (!exchanging()) {
      begin_sum();
      if (own != nullptr)
        take({own->gradients, 0, own->gradients.size(), static_cast<int>(own->sums.images)});
      else
        std::ranges::fill(numbers_, 0.0f);
    }
    complete_exchange();
    Result<Update> out = finish_exchange(batches(size_));
    if (!out) return out;
    out->optimizer_takes = true;
    out->scale = static_cast<float>(1 / (static_cast<double>(out->sums.images) / batch_size_));
    // The first batch's: the mean is of one batch that begins there and is so many times as long.
    out->rate_of = done_;
    return out;
  }

  void applied(const Update& update) override {
    advance(update.scale, update.done);
    if (alone_) hints_.add(measured(), step_seconds(), party_->view(), leads());
  }

 private:
  void begin_sum() {
    numbers_.resize(network_.parameters().size());
    party_->codec().at(length_.epoch_of(done_));
    begin_exchange_early();
  }
  // A batch counts by its share of a full one.
  float share_of(uint64_t images) const {
    return static_cast<float>(images) / static_cast<float>(batch_size_);
  }
  void take(const ReadyGradients& ready) {
    const float weight = share_of(static_cast<uint64_t>(ready.images));
    for (size_t i = ready.begin; i < ready.end; ++i) numbers_[i] = weight * ready.gradients[i];
  }

  // All members measure from the first exchange on, or none does.
  void begin_view() {
    hints_.begin_view();
    measure(0);
  }

  // The codec's vectors travel after the optimizer's own; the caller drops them from the state. What another
  // member has left out is not this member's to add.
  void take_codec(const TrainingState& state, bool own) {
    const size_t first = std::min(state.optimizer.size(), learner_.places().vectors());
    party_->codec().restore(std::span(state.optimizer).subspan(first), own);
  }

  const int batch_size_;
  const RunLength length_;
  const bool overlaps_;
  SteadyClock::time_point step_began_;
  const bool alone_;  // not a part of "auto", which measures itself, and changes what is exchanged
  ViewHints hints_;
};

}  // namespace

StrategyResult make_all_reduce(const StrategyContext& context) {
  Result<std::unique_ptr<cluster::Party>> party = join_party(context);
  if (!party) return std::move(party).status();
  return StrategyResult(all_reduce_over(context, std::move(*party)));
}

std::unique_ptr<RingStrategy> all_reduce_over(const StrategyContext& context,
                                              std::shared_ptr<cluster::Party> party) {
  return std::make_unique<AllReduce>(context, std::move(party));
}

}  // namespace radl::engine
