// One batch from each worker (at the run's end from the first of them), one update with their mean.
#include "engine/train/strategy_ring.h"

namespace radl::engine {
namespace {

class AllReduce : public RingStrategy {
 public:
  AllReduce(const StrategyContext& c, std::shared_ptr<cluster::Party> party)
      : RingStrategy(c, std::move(party)), batch_size_(c.job.batch_size) {}

  Result<Work> next() override {
    Result<bool> end = over();
    if (!end) return std::move(end).status();
    if (*end) return Work{.finished = true};
    remember();
    if (stopping() || rank_ >= batches(size_)) return Work{};
    return Work{.batch = done_ + rank_, .then = done_ + size_ + rank_};
  }

  Result<Update> finish(const Outcome* own) override {
    numbers_.assign(network_.parameters().size(), 0.0f);
    change_.assign(before_.size(), 0.0f);
    if (own != nullptr) {
      note(own->sums);
      // The batch's share of a full one.
      const float weight = static_cast<float>(own->sums.images) / static_cast<float>(batch_size_);
      for (size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = weight * own->gradients[i];
      const std::span<const float> statistics = network_.statistics();
      for (size_t i = 0; i < change_.size(); ++i) change_[i] = weight * (statistics[i] - before_[i]);
    }
    Result<Update> out = exchange(batches(size_));
    if (!out) return out;
    out->optimizer_takes = true;
    out->scale = static_cast<float>(1 / (static_cast<double>(out->sums.images) / batch_size_));
    // The first batch's: the mean is of one batch that begins there and is so many times as long.
    out->rate_of = done_;
    return out;
  }

  void applied(const Update& update) override { advance(update.scale, update.done); }

 private:
  const int batch_size_;
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
