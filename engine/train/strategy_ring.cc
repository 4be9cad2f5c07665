#include "engine/train/strategy_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "engine/train/cluster.h"

namespace radl::engine {

namespace {

constexpr size_t kMeasures = 3;  // numbers of a member

cluster::CodecOptions codec_options(const StrategyContext& c) {
  using Kind = cluster::CodecOptions::Kind;
  const SyncSpec& sync = c.job.sync;
  return {.kind = sync.gradients == Encoding::TopK       ? Kind::TopK
                  : sync.gradients == Encoding::PowerSgd ? Kind::PowerSgd
                                                         : Kind::Rounded,
          .numbers = compresses(sync.gradients) ? cluster::Numbers::Fp32
                                                : static_cast<cluster::Numbers>(sync.gradients),
          .layout = c.learner.network.parameter_layout(),
          .density = sync.density,
          .momentum = static_cast<float>(c.job.optimizer.momentum),
          .nesterov = c.job.optimizer.nesterov,
          .rank = sync.rank};
}

}  // namespace

RingStrategy::RingStrategy(const StrategyContext& c, std::shared_ptr<cluster::Party> party)
    : hooks_(c.hooks),
      learner_(c.learner),
      network_(c.learner.network),
      party_(std::move(party)),
      total_(c.setup.length.total) {}

Status RingStrategy::begin(TrainingState& state) {
  if (Status seated = seat(state, !leads()); !seated.ok()) return seated;
  if (!state.again.empty())
    return invalid("the checkpoint is of a run with servers, with batches that are still to be done");
  (void)party_->take_changes();  // all are here
  return {};
}

Status RingStrategy::rejoin(TrainingState& state) {
  party_->codec().drop();
  return seat(state, false);
}

Status RingStrategy::seat(TrainingState& state, bool fresh) {
  if (Status next = party_->next_view(state, fresh); !next.ok()) return next;
  if (party_->finished()) {  // perhaps before this member had a state
    if (fresh) state = learner_.places().capture();
    return {};
  }
  done_ = state.next;
  rank_ = party_->rank();
  size_ = party_->view().members.size();
  at_border_ = true;
  return {};
}

Result<bool> RingStrategy::over() {
  if (party_->finished()) return true;
  if (done_ < total_) return leaving();
  if (leads()) return true;
  if (Status ended = party_->wait_for_end(); !ended.ok()) return ended;
  return true;
}

bool RingStrategy::leaving() const {
  return at_border_ && hooks_.interrupted() && (!leads() || party_->has_successor());
}

void RingStrategy::remember() {
  at_border_ = false;
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

void RingStrategy::begin_exchange() {
  begin_exchange_early();
  complete_exchange();
}

void RingStrategy::begin_exchange_early() {
  exchange_failed_ = false;
  own_part_.emplace(numbers_);
  sum_ = std::async(std::launch::async, [this] { return sum(); });
}

void RingStrategy::complete_exchange() {
  write_measure();
  own_part_->complete(change_, note_);
}

Result<std::vector<cluster::RingNote>> RingStrategy::sum() {
  Result<std::vector<cluster::RingNote>> notes = party_->sum(*own_part_);
  // What was exchanged while it was computed took no time.
  own_part_->wait();
  own_.exchange_seconds = seconds_since(own_part_->completed_at());
  exchange_failed_ = !notes.ok();
  return notes;
}

// Each member writes into its place behind the statistics and adds nothing to the others'.
void RingStrategy::write_measure() {
  if (!measures_) return;
  const cluster::Traffic path = party_->traffic();
  const size_t at = change_.size() + kMeasures * rank_;
  change_.resize(change_.size() + kMeasures * size_, 0.0f);
  change_[at] = static_cast<float>(own_.step_seconds);
  change_[at + 1] = static_cast<float>(own_.exchange_seconds);
  change_[at + 2] = static_cast<float>(path.round_trip_seconds);
}

void RingStrategy::read_measure() {
  if (!measures_) return;
  const size_t begin = change_.size() - kMeasures * size_;
  measured_ = {.workers = size_, .exchange_seconds = change_[begin + 1]};
  step_seconds_.clear();
  for (size_t at = begin; at < change_.size(); at += kMeasures) {
    step_seconds_.push_back(change_[at]);
    measured_.step_seconds = std::max<double>(measured_.step_seconds, change_[at]);
    // The last member to join a sum does not wait.
    measured_.exchange_seconds = std::min<double>(measured_.exchange_seconds, change_[at + 1]);
    measured_.round_trip_seconds = std::max<double>(measured_.round_trip_seconds, change_[at + 2]);
  }
  change_.resize(begin);
}

void RingStrategy::resume_from(const RingStrategy& other) {
  done_ = other.done_;
  rank_ = other.rank_;
  size_ = other.size_;
  own_ = {.step_seconds = other.own_.step_seconds};
  at_border_ = true;
  party_->codec().drop();
}

Result<Update> RingStrategy::finish_exchange(uint64_t batches) {
  const auto begin = SteadyClock::now();
  Result<std::vector<cluster::RingNote>> notes = sum_.get();
  exchange_seconds_ += seconds_since(begin);
  if (notes.ok()) read_measure();
  Status status = notes.status();
  Update out{
      .numbers = numbers_, .statistics = change_, .done = done_ + batches, .newest = done_ + batches - 1};
  for (size_t i = 0; status.ok() && i < notes->size(); ++i) {
    const cluster::RingNote& n = (*notes)[i];
    if (n.code != 0)
      status = {static_cast<Code>(n.code),
                fmt::format("worker/{} was interrupted", party_->view().members[n.rank].index)};
    out.sums.steps += n.steps;
    out.sums.correct += n.correct;
    out.sums.images += n.images;
    out.sums.loss += n.loss;
  }
  if (status.ok()) return out;
  if (notes.ok()) party_->codec().undo();  // else there was no sum, and the one before counts
  undo();
  return status;
}

void RingStrategy::advance(float scale, uint64_t done) {
  const std::span<float> statistics = network_.statistics();
  for (size_t i = 0; i < before_.size(); ++i) statistics[i] = before_[i] + scale * change_[i];
  done_ = done;
  at_border_ = true;
}

void RingStrategy::end(const Status& why) { party_->stop(why); }

void RingStrategy::share(const SharedDuties& duties) { party_->share(write_duties(duties)); }

SharedDuties RingStrategy::shared() const { return read_duties(party_->shared()); }

Result<std::unique_ptr<cluster::Party>> join_party(const StrategyContext& c) {
  Result<std::string> key = cluster::read_job_key(c.job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  const cluster::ClientOptions common = client_options(c.job, c.setup, c.hooks);
  cluster::PartyOptions options{
      .ring = {common.index, static_cast<uint32_t>(c.job.cluster.worker.size()), common.parameters,
               common.statistics, common.peer_timeout, cluster::Codec::make(codec_options(c)), c.hooks.stop},
      .addresses = c.job.cluster.worker,
      .listen = c.job.task.listen,
      .key = *key,
      .job_digest = common.job_digest,
      .start_timeout = common.start_timeout};
  options.refused = [&progress = c.progress](uint64_t count, const std::string& last) {
    progress.emit("peer_refused", {{"peer", ""}, {"count", count}, {"message", last}});
  };
  options.may_lead = [&job = c.job](const std::string& text) { return can_take_over(job, text); };
  return cluster::Party::join(options);
}

}  // namespace radl::engine
