// A worker in mode "allreduce": all hold the same weights and add their gradients (or, with local_steps, what
// their steps changed) around a ring. Worker 0 is the chief as well.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cluster/ring.h"
#include "engine/kernels/cpu.h"
#include "engine/train/cluster.h"
#include "engine/train/guard.h"
#include "engine/train/overseer.h"
#include "engine/train/state.h"
#include "engine/train/step.h"
#include "engine/train/worker_lines.h"

namespace radl::engine {
namespace {

class RingRun {
 public:
  // `overseer`: of the chief, null elsewhere.
  RingRun(const Job& job, const RunHooks& hooks, Setup& setup, Progress& progress, cluster::Ring& ring,
          Overseer* overseer)
      : job_(job),
        hooks_(hooks),
        setup_(setup),
        ring_(ring),
        overseer_(overseer),
        network_(*setup.network),
        step_(network_, job),
        average_(average_config(job, setup.length)),
        lines_(job, setup, progress, [&ring] { return ring.traffic(); }),
        rank_(static_cast<uint64_t>(job.task.index)),
        size_(job.cluster.worker.size()) {}

  // Builds what trains, and takes the chief's state.
  Status prepare() {
    Result<Supplies> supplies = make_supplies(setup_, job_);
    if (!supplies) return std::move(supplies).status();
    optimizer_ = std::move(supplies->optimizer);
    batches_ = std::move(supplies->batches);
    cluster::Init state;
    if (overseer_ != nullptr) {
      Result<Checkpoint> begin = chief_state();
      if (!begin) return std::move(begin).status();
      state = to_init(std::move(*begin));
    }
    if (Status got = ring_.start(state); !got.ok()) return got;
    if (!state.tickets.again.empty())
      return invalid("the checkpoint is of a run with servers, with batches that are still to be done");
    done_ = state.tickets.next;
    return restore(from_init(std::move(state)), trainee());
  }

  Status train() {
    if (overseer_ != nullptr) begin();
    while (done_ < setup_.length.total) {
      Status went = job_.sync.local_steps > 1 ? local_steps() : joint_step();
      if (went.ok()) went = keep();
      if (went.code() == Code::Cancelled) return interrupted(std::move(went));
      if (!went.ok()) return went;
    }
    ring_.leave();
    return {};
  }

  Result<RunSummary> finish() {
    overseer_->note("data_wait_seconds", batches_->wait_seconds());
    overseer_->note("exchange_seconds", exchange_seconds_);
    overseer_->note("skipped_images", static_cast<double>(batches_->skipped()));
    return overseer_->finish(done_, average_.values(), [this] {
      return capture(trainee(), {setup_.length.total, done_, {}});
    });
  }
  const WorkerLines& lines() const { return lines_; }

 private:
  Trainee trainee() { return {network_, *optimizer_, average_}; }

  Result<Checkpoint> chief_state() {
    Result<std::optional<Checkpoint>> found = overseer_->resume();
    if (!found) return std::move(found).status();
    if (*found) return std::move(**found);
    if (Status whitened = whiten_from_data(setup_, job_); !whitened.ok()) return whitened;
    return capture(trainee(), {});
  }

  void begin() {
    overseer_->begin(done_);
    for (uint64_t i = 1; i < size_; ++i) overseer_->peer("joined", fmt::format("worker/{}", i), "", 0);
  }

  // One batch from each worker (at the run's end from the first of them), one update with their mean.
  Status joint_step() {
    const uint64_t first = done_, count = std::min(size_, setup_.length.total - first);
    const size_t parameters = network_.parameters().size();
    before_.assign(network_.statistics().begin(), network_.statistics().end());
    change_.assign(before_.size(), 0.0f);
    numbers_.assign(parameters, 0.0f);
    cluster::RingNote note;
    float weight = 0;
    if (rank_ < count && wanted(note)) {
      if (Status computed = compute(first + rank_, first + size_ + rank_, note, weight); !computed.ok())
        return told(std::move(computed));
      std::span<const float> gradients = step_.gradients();
      for (size_t i = 0; i < parameters; ++i) numbers_[i] = weight * gradients[i];
      std::span<const float> statistics = network_.statistics();
      for (size_t i = 0; i < change_.size(); ++i) change_[i] = weight * (statistics[i] - before_[i]);
    }
    if (Status added = exchange(note, first + count); !added.ok()) return added;
    const float scale = static_cast<float>(1 / total_weight_);
    // The first batch's rate: the mean is of one batch that begins there and is so many times as long.
    optimizer_->step(network_.parameters(), numbers_, setup_.rate(first), scale);
    finish_update(scale, first + count);
    return {};
  }

  // Up to local_steps steps of its own on each worker, then the mean of weights and optimizer states (Yu, Jin
  // and Yang, ICML 2019), each with the share of its steps.
  Status local_steps() {
    const uint64_t first = done_, each = static_cast<uint64_t>(job_.sync.local_steps),
                   count = std::min(size_ * each, setup_.length.total - first);
    steps_before_ = optimizer_->steps();
    before_.assign(network_.statistics().begin(), network_.statistics().end());
    start_.assign(network_.parameters().begin(), network_.parameters().end());
    start_.insert(start_.end(), optimizer_->state().begin(), optimizer_->state().end());
    cluster::RingNote note;
    for (uint64_t ticket = first + rank_; wanted(note) && ticket < first + count; ticket += size_) {
      float weight = 0;
      if (Status computed = compute(ticket, ticket + size_, note, weight); !computed.ok())
        return told(std::move(computed));
      if (!std::isfinite(note.loss)) break;  // all will see it
      optimizer_->step(network_.parameters(), step_.gradients(), setup_.rate(ticket));
      network_.parameters_changed();
    }
    // A worker without a step of its own in this round adds nothing.
    changes_since(static_cast<float>(note.steps));
    if (Status added = exchange(note, first + count); !added.ok()) return added;
    const float scale = static_cast<float>(1 / total_steps_);
    std::span<float> weights = network_.parameters(), state = optimizer_->state();
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = start_[i] + scale * numbers_[i];
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = start_[weights.size() + i] + scale * numbers_[weights.size() + i];
    optimizer_->set_steps(steps_before_ + (count + size_ - 1) / size_);
    finish_update(scale, first + count);
    return {};
  }

  // What this worker's own steps changed, `share` times.
  void changes_since(float share) {
    std::span<const float> weights = network_.parameters(), state = optimizer_->state(),
                           statistics = network_.statistics();
    numbers_.resize(start_.size());
    for (size_t i = 0; i < weights.size(); ++i) numbers_[i] = share * (weights[i] - start_[i]);
    for (size_t i = 0; i < state.size(); ++i)
      numbers_[weights.size() + i] = share * (state[i] - start_[weights.size() + i]);
    change_.resize(before_.size());
    for (size_t i = 0; i < change_.size(); ++i) change_[i] = share * (statistics[i] - before_[i]);
  }

  // False when this process was interrupted: everybody learns it from the note.
  bool wanted(cluster::RingNote& note) const {
    if (!hooks_.stop.asked()) return true;
    note.code = static_cast<uint8_t>(Code::Cancelled);
    return false;
  }

  // One batch: gradients stay in step_, `weight` is the batch's share of a full one.
  Status compute(uint64_t ticket, uint64_t then, cluster::RingNote& note, float& weight) {
    Result<Batch> batch = batches_->get(ticket);
    if (!batch) return std::move(batch).status();
    if (then < setup_.length.total) batches_->hint(then);
    StepResult result = step_.run(*batch, ticket);
    note.steps += 1;
    note.loss += result.loss;
    note.correct += static_cast<uint32_t>(result.correct);
    note.images += static_cast<uint32_t>(batch->size);
    weight = static_cast<float>(batch->size) / static_cast<float>(job_.batch_size);
    if (overseer_ == nullptr) lines_.add(ticket, result, batch->size);
    return {};
  }

  // Adds everybody's numbers. When it fails the weights are as they were before the step.
  Status exchange(const cluster::RingNote& own, uint64_t done) {
    auto begin = cluster::Clock::now();
    Result<std::vector<cluster::RingNote>> notes = ring_.sum(numbers_, change_, own);
    exchange_seconds_ += std::chrono::duration<double>(cluster::Clock::now() - begin).count();
    Status status = notes.status();
    if (status.ok()) status = add_up(*notes, done);
    if (status.ok() &&
        !(cluster::all_finite(numbers_) && cluster::all_finite(change_)))  // so with all members
      status = diverged("a sum of gradients became infinite or no number");
    if (!status.ok()) undo();
    return status;
  }

  Status add_up(const std::vector<cluster::RingNote>& notes, uint64_t done) {
    double images = 0, steps = 0, loss = 0;
    for (const cluster::RingNote& note : notes) {
      if (note.code != 0)
        return {static_cast<Code>(note.code), fmt::format("worker/{} was interrupted", note.rank)};
      images += note.images;
      steps += note.steps;
      loss += note.loss;
      sums_.steps += note.steps;
      sums_.correct += note.correct;
      sums_.images += note.images;
    }
    sums_.loss += loss;
    total_weight_ = images / job_.batch_size;
    total_steps_ = steps;
    // Before the weights are touched. The chief's guard says it in the same words.
    if (overseer_ != nullptr) return told(overseer_->step(done, sums_));
    if (!std::isfinite(loss)) return diverged(fmt::format("the loss became {}", std::fabs(loss)));
    return {};
  }

  void undo() {
    std::copy(before_.begin(), before_.end(), network_.statistics().begin());
    if (start_.empty()) return;  // a joint step touches nothing else before it is sure
    optimizer_->set_steps(steps_before_);
    std::span<float> weights = network_.parameters(), state = optimizer_->state();
    std::copy_n(start_.begin(), weights.size(), weights.begin());
    std::copy(start_.begin() + static_cast<long>(weights.size()), start_.end(), state.begin());
  }

  void finish_update(float scale, uint64_t done) {
    std::span<float> statistics = network_.statistics();
    for (size_t i = 0; i < before_.size(); ++i) statistics[i] = before_[i] + scale * change_[i];
    network_.parameters_changed();
    average_.update(network_.parameters(), done - 1);
    done_ = done;
  }

  // The chief's duties between two updates.
  Status keep() {
    if (overseer_ == nullptr) return {};
    if (overseer_->evaluation_due(done_)) {
      if (Status e = overseer_->evaluate(done_, average_.values()); !e.ok()) return told(std::move(e));
    }
    if (!overseer_->checkpoint_due(done_)) return {};
    return told(overseer_->save(capture(trainee(), {setup_.length.total, done_, {}})));
  }

  // Tells the others why this one ends.
  Status told(Status status) {
    if (!status.ok()) ring_.stop(status);
    return status;
  }

  Status interrupted(Status why) {
    ring_.stop(why);
    if (overseer_ == nullptr) return why;
    Status saved = overseer_->save(capture(trainee(), {setup_.length.total, done_, {}}));
    if (saved.ok()) saved = overseer_->settle();
    if (!saved.ok()) return saved;
    return {Code::Cancelled, fmt::format("interrupted at batch {}; the same job resumes from there", done_)};
  }

  const Job& job_;
  const RunHooks& hooks_;
  Setup& setup_;
  cluster::Ring& ring_;
  Overseer* overseer_;
  Network& network_;
  BatchStep step_;
  WeightAverage average_;
  WorkerLines lines_;
  const uint64_t rank_, size_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<data::Loader> batches_;
  TrainSums sums_;
  std::vector<float> numbers_, change_;  // what is added up
  std::vector<float> start_, before_;    // weights and optimizer state, statistics before the step
  double total_weight_ = 0, total_steps_ = 0, exchange_seconds_ = 0;
  uint64_t done_ = 0, steps_before_ = 0;
};

Result<std::unique_ptr<cluster::Ring>> make_ring(const Job& job, const Setup& setup, const RunHooks& hooks,
                                                 Progress& progress, const std::string& key) {
  cluster::ClientOptions common = client_options(job, setup, hooks);
  cluster::RingOptions options{common.index,        static_cast<uint32_t>(job.cluster.worker.size()),
                               common.parameters,   common.statistics,
                               common.peer_timeout, common.gradients,
                               hooks.stop};
  cluster::RingMember member{job.cluster.worker, key, common.job_digest, common.start_timeout, {}};
  member.refused = [&](uint64_t count, const std::string& last) {
    progress.emit("peer_refused", {{"peer", ""}, {"count", count}, {"message", last}});
  };
  return cluster::connect_ring(options, member);
}

}  // namespace

Result<RunSummary> run_ring_worker(const Job& given, const RunHooks& hooks, Progress& progress) {
  Job job = given;
  auto begin = cluster::Clock::now();
  Result<std::string> key = cluster::read_job_key(job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  Result<std::unique_ptr<Setup>> setup = Setup::make(job, true);
  if (!setup) return std::move(setup).status();
  std::unique_ptr<Overseer> overseer;
  const bool chief = job.task.index == 0;
  if (chief) {
    Result<std::unique_ptr<Overseer>> made = Overseer::make(job, **setup, progress, hooks);
    if (!made) return std::move(made).status();
    overseer = std::move(*made);
  }
  Result<std::unique_ptr<cluster::Ring>> ring = make_ring(job, **setup, hooks, progress, *key);
  if (!ring) return std::move(ring).status();
  RingRun run(job, hooks, **setup, progress, **ring, overseer.get());
  Status status = run.prepare();
  if (!chief && status.ok()) {
    if (!cpu().warning.empty()) progress.emit("warning", {{"message", cpu().warning}});
    progress.emit("started", {{"time", wall_seconds()}, {"steps", (*setup)->length.total}});
  }
  if (status.ok()) status = run.train();
  if (!status.ok()) {
    (*ring)->stop(status);
    if (overseer) (void)overseer->settle();
    return status;
  }
  if (chief) return run.finish();
  RunSummary out;
  out.task = job.task.name();
  out.steps = run.lines().steps();
  out.seconds = std::chrono::duration<double>(cluster::Clock::now() - begin).count();
  nlohmann::ordered_json said = {{"step", out.steps}, {"seconds", out.seconds}};
  run.lines().add_links(said);
  progress.emit("finished", said);
  return out;
}

}  // namespace radl::engine
