#include "engine/train/strategy_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "engine/train/cluster.h"

namespace radl::engine {

RingStrategy::RingStrategy(const StrategyContext& c, std::unique_ptr<cluster::Ring> ring)
    : hooks_(c.hooks),
      learner_(c.learner),
      network_(c.learner.network),
      ring_(std::move(ring)),
      rank_(static_cast<uint64_t>(c.job.task.index)),
      size_(c.job.cluster.worker.size()),
      total_(c.setup.length.total) {}

Status RingStrategy::begin(TrainingState& state) {
  if (Status got = ring_->start(state); !got.ok()) return got;
  if (!state.again.empty())
    return invalid("the checkpoint is of a run with servers, with batches that are still to be done");
  done_ = state.next;
  return {};
}

void RingStrategy::remember() {
  before_.assign(network_.statistics().begin(), network_.statistics().end());
  note_ = {};
}

void RingStrategy::undo() { std::copy(before_.begin(), before_.end(), network_.statistics().begin()); }

void RingStrategy::note(const TrainSums& sums) {
  note_.steps += 1;
  note_.loss += sums.loss;
  note_.correct += static_cast<uint32_t>(sums.correct);
  note_.images += static_cast<uint32_t>(sums.images);
}

bool RingStrategy::stopping() {
  if (hooks_.stop.asked()) note_.code = static_cast<uint8_t>(Code::Cancelled);
  return note_.code != 0;
}

Result<Update> RingStrategy::exchange(uint64_t batches) {
  const auto begin = SteadyClock::now();
  Result<std::vector<cluster::RingNote>> notes = ring_->sum(numbers_, change_, note_);
  exchange_seconds_ += seconds_since(begin);
  Status status = notes.status();
  Update out{
      .numbers = numbers_, .statistics = change_, .done = done_ + batches, .newest = done_ + batches - 1};
  for (size_t i = 0; status.ok() && i < notes->size(); ++i) {
    const cluster::RingNote& n = (*notes)[i];
    if (n.code != 0) status = {static_cast<Code>(n.code), fmt::format("worker/{} was interrupted", n.rank)};
    out.sums.steps += n.steps;
    out.sums.correct += n.correct;
    out.sums.images += n.images;
    out.sums.loss += n.loss;
  }
  if (status.ok()) return out;
  undo();
  return status;
}

void RingStrategy::advance(float scale, uint64_t done) {
  const std::span<float> statistics = network_.statistics();
  for (size_t i = 0; i < before_.size(); ++i) statistics[i] = before_[i] + scale * change_[i];
  done_ = done;
}

void RingStrategy::end(const Status& why) {
  if (why.ok())
    ring_->leave();
  else
    ring_->stop(why);
}

Result<std::unique_ptr<cluster::Ring>> make_ring(const StrategyContext& c) {
  Result<std::string> key = cluster::read_job_key(c.job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  cluster::ClientOptions common = client_options(c.job, c.setup, c.hooks);
  cluster::RingOptions options{common.index,        static_cast<uint32_t>(c.job.cluster.worker.size()),
                               common.parameters,   common.statistics,
                               common.peer_timeout, common.gradients,
                               c.hooks.stop};
  cluster::RingMember member{c.job.cluster.worker, *key, common.job_digest, common.start_timeout, {}};
  member.refused = [&progress = c.progress](uint64_t count, const std::string& last) {
    progress.emit("peer_refused", {{"peer", ""}, {"count", count}, {"message", last}});
  };
  return cluster::connect_ring(options, member);
}

}  // namespace radl::engine
