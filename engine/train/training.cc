#include "engine/train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "engine/cluster/message.h"
#include "engine/kernels/cpu.h"
#include "engine/train/guard.h"
#include "engine/train/step.h"
#include "engine/train/strategy.h"
#include "engine/train/worker_lines.h"

namespace radl::engine {
namespace {

class Training {
 public:
  // `overseer`: of the chief and of one process, null elsewhere.
  Training(const StrategyContext& c, Strategy& strategy, std::unique_ptr<Overseer> overseer,
           std::unique_ptr<data::Loader> batches)
      : job_(c.job),
        hooks_(c.hooks),
        setup_(c.setup),
        learner_(c.learner),
        progress_(c.progress),
        strategy_(strategy),
        overseer_(std::move(overseer)),
        step_(c.learner.network, c.job),
        lines_(
            c.job, c.setup, c.progress, [&strategy] { return strategy.traffic(); },
            [&strategy] { return strategy.exchange_seconds(); }),
        batches_(std::move(batches)) {}

  // `begin`: when this task started.
  Result<RunSummary> run(SteadyClock::time_point begin) {
    Status status = prepare();
    if (status.ok()) status = train();
    if (status.ok() && overseer_ != nullptr && strategy_.hands_over()) {
      (void)overseer_->settle();
      return finish_member(seconds_since(begin));
    }
    if (status.ok() && overseer_ != nullptr) {
      // The others stay until the model is written: another one writes it if this one is lost.
      Result<RunSummary> out = finish();
      strategy_.end(Status());
      return out;
    }
    strategy_.end(status);
    if (status.code() == Code::Cancelled) status = interrupted(std::move(status));
    if (!status.ok()) {
      if (overseer_ != nullptr) (void)overseer_->settle();
      return status;
    }
    return finish_member(seconds_since(begin));
  }

 private:
  Status prepare() {
    TrainingState state;
    if (overseer_ != nullptr) {
      Result<TrainingState> first = first_state();
      if (!first) return std::move(first).status();
      state = std::move(*first);
    } else {
      tell_start();
    }
    if (Status begun = strategy_.begin(state); !begun.ok()) return begun;
    begun_ = true;
    if (Status fits = restore(state); !fits.ok()) return fits;
    if (overseer_ != nullptr) tell_begin();
    return strategy_.leads() && overseer_ == nullptr ? take_duties() : Status();
  }

  // The chief is lost, and this member is the next.
  Status take_duties() {
    Result<std::unique_ptr<Overseer>> made = Overseer::make(job_, setup_, progress_, hooks_);
    if (!made) return std::move(made).status();
    overseer_ = std::move(*made);
    sums_ = {.waited = strategy_.exchange_seconds()};
    if (Status taken = overseer_->take_over(done_, strategy_.shared().history); !taken.ok()) return taken;
    share();
    // The checkpoints of the lost chief may be on a machine that is gone.
    return done_ < setup_.length.total ? save() : Status();
  }

  void share() {
    SharedDuties duties = duties_of(job_);
    duties.history = overseer_->record();
    strategy_.share(duties);
  }

  // The strategy has taken what belongs to it. A run may also resume with another strategy, which does not
  // know the vectors after the optimizer's.
  Status restore(TrainingState& state) {
    if (learner_.optimizer) {
      const Trainee places = learner_.places();
      state.optimizer.resize(std::min(state.optimizer.size(), places.vectors()));
      if (Status fits = places.restore(state); !fits.ok()) return fits;
    }
    learner_.network.parameters_changed();
    done_ = state.done();
    return {};
  }

  // The chief's.
  Result<TrainingState> first_state() {
    Result<std::optional<Checkpoint>> found = overseer_->resume();
    if (!found) return std::move(found).status();
    if (*found) return TrainingState(std::move(**found));
    if (Status whitened = whiten_from_data(setup_, job_); !whitened.ok()) return whitened;
    return learner_.places().capture();
  }

  // A member's, which may then wait long for its first batch.
  void tell_start() {
    if (!cpu().warning.empty()) progress_.emit("warning", {{"message", cpu().warning}});
    progress_.emit("started", {{"time", wall_seconds()}, {"steps", setup_.length.total}});
  }

  // The chief's, when it knows where the run resumes.
  void tell_begin() {
    overseer_->begin(done_);
    for (size_t i = 1; i < job_.cluster.worker.size(); ++i)
      overseer_->peer("joined", fmt::format("worker/{}", i), "", 0);
    share();
  }

  Status train() {
    for (;;) {
      Result<Work> work = strategy_.next();
      if (!work.ok() && strategy_.broken()) {
        if (Status again = rejoin(); !again.ok()) return again;
        continue;
      }
      if (!work) return std::move(work).status();
      if (work->finished) return {};
      Outcome outcome;
      if (work->batch) {
        if (Status computed = compute(*work, outcome); !computed.ok()) return computed;
      }
      Result<Update> update = strategy_.finish(work->batch ? &outcome : nullptr);
      if (!update.ok() && strategy_.broken()) {
        if (Status again = rejoin(); !again.ok()) return again;
        continue;
      }
      if (!update) return std::move(update).status();
      if (Status applied = apply(*update); !applied.ok()) return applied;
      if (!update->border || overseer_ == nullptr) continue;
      if (Status kept = keep(); !kept.ok()) return kept;
    }
  }

  // From this member's last border to the one from which all resume.
  Status rejoin() {
    TrainingState state = capture();
    if (Status joined = strategy_.rejoin(state); !joined.ok()) return joined;
    if (Status fits = restore(state); !fits.ok()) return fits;
    if (strategy_.leads() && overseer_ == nullptr) {
      if (Status taken = take_duties(); !taken.ok()) return taken;
    }
    if (overseer_ == nullptr) return {};
    for (const cluster::PeerChange& change : strategy_.take_changes())
      overseer_->peer(change.kind.c_str(), fmt::format("worker/{}", change.index), change.text,
                      change.silent_seconds);
    return {};
  }

  Status compute(const Work& work, Outcome& out) {
    Result<Batch> batch = batches_->get(*work.batch);
    if (!batch) return std::move(batch).status();
    if (work.then && *work.then < setup_.length.total) batches_->hint(*work.then);  // made meanwhile
    const int images = batch->size;
    const StepResult result = step_.run(*batch, *work.batch, [this, images](size_t begin, size_t end) {
      strategy_.ready({step_.gradients(), begin, end, images});
    });
    out.batch = *work.batch;
    out.rate = setup_.rate(out.batch);
    out.sums = {1, static_cast<uint64_t>(result.correct), static_cast<uint64_t>(batch->size), result.loss};
    out.pieces = step_.pieces();
    out.gradients = step_.gradients();
    if (overseer_ == nullptr) lines_.add(out.batch, result, batch->size);
    return {};
  }

  Status apply(const Update& update) {
    if (Status bad = update.border ? check(update) : Status(); !bad.ok()) {
      strategy_.undo();
      return bad;
    }
    if (update.optimizer_takes)
      learner_.optimizer->step(learner_.network.parameters(), update.numbers, setup_.rate(update.rate_of),
                               update.scale);
    strategy_.applied(update);
    learner_.network.parameters_changed();
    if (!update.border) return {};
    const std::span<const float> shared = strategy_.shared_weights();
    learner_.average.update(shared.empty() ? learner_.network.parameters() : shared, update.newest);
    done_ = update.done;
    return {};
  }

  // Before the weights are touched; all members find the same.
  Status check(const Update& update) {
    sums_.steps += update.sums.steps;
    sums_.correct += update.sums.correct;
    sums_.images += update.sums.images;
    sums_.loss += update.sums.loss;
    sums_.waited = strategy_.exchange_seconds();
    if (overseer_ != nullptr) {
      if (Status bad = overseer_->step(update.done, sums_); !bad.ok()) return bad;
    } else if (!std::isfinite(update.sums.loss)) {
      return diverged(fmt::format("the loss became {}", std::fabs(update.sums.loss)));
    }
    if (cluster::all_finite(update.numbers) && cluster::all_finite(update.statistics)) return {};
    return diverged(
        update.optimizer_takes
            ? fmt::format("a gradient became infinite or not a number at batch {}", update.newest)
            : fmt::format("a sum became infinite or not a number in the batches up to {}", update.newest));
  }

  // The chief's duties at a border.
  Status keep() {
    if (overseer_->evaluation_due(done_)) {
      const std::span<const float> average = learner_.average.values();
      const EvaluatedWeights weights{average.empty() ? strategy_.shared_weights() : average,
                                     strategy_.holds_mean()};
      if (Status e = overseer_->evaluate(done_, weights); !e.ok()) return e;
      share();
    }
    return overseer_->checkpoint_due(done_) ? save() : Status();
  }

  TrainingState capture() {
    TrainingState out = learner_.places().capture();
    strategy_.store(out);
    return out;
  }

  Status save() {
    const auto begin = SteadyClock::now();
    TrainingState state = capture();
    return overseer_->save(std::move(state), seconds_since(begin));
  }

  // What the run ends with when it was asked to stop.
  Status interrupted(Status why) {
    if (overseer_ == nullptr || !begun_) return why;
    Status saved = save();
    if (saved.ok()) saved = overseer_->settle();
    if (!saved.ok()) return saved;
    const bool kept = !job_.directories.checkpoint.empty();
    return {Code::Cancelled,
            fmt::format("interrupted at batch {}{}", done_, kept ? "; the same job resumes from there" : "")};
  }

  Result<RunSummary> finish() {
    overseer_->note("data_wait_seconds", batches_->wait_seconds());
    overseer_->note("skipped_images", static_cast<double>(batches_->skipped()));
    if (!job_.cluster.empty()) overseer_->note("exchange_seconds", strategy_.exchange_seconds());
    return overseer_->finish(done_, {learner_.average.values(), strategy_.holds_mean()},
                             [this] { return capture(); });
  }

  Result<RunSummary> finish_member(double seconds) {
    RunSummary out;
    out.task = job_.task.name();
    out.steps = lines_.steps();
    out.data_wait_seconds = batches_->wait_seconds();
    out.seconds = seconds;
    nlohmann::ordered_json said = {{"step", out.steps}, {"data_wait_seconds", out.data_wait_seconds}};
    lines_.add_links(said);
    said["seconds"] = out.seconds;
    progress_.emit("finished", said);
    return out;
  }

  const Job& job_;
  const RunHooks& hooks_;
  Setup& setup_;
  Learner& learner_;
  Progress& progress_;
  Strategy& strategy_;
  std::unique_ptr<Overseer> overseer_;
  BatchStep step_;
  WorkerLines lines_;
  std::unique_ptr<data::Loader> batches_;
  TrainSums sums_;
  uint64_t done_ = 0;
  bool begun_ = false;
};

}  // namespace

Result<RunSummary> run_training(const Job& given, const RunHooks& hooks, Progress& progress) {
  const auto begin = SteadyClock::now();
  Job job = given;
  const bool servers = !job.cluster.empty() && !without_servers(job.sync.mode);
  Result<std::unique_ptr<Setup>> setup = Setup::make(job, true);
  if (!setup) return std::move(setup).status();
  Learner learner{*(*setup)->network, nullptr, WeightAverage(average_config(job, (*setup)->length))};
  if (!servers) {
    Result<std::unique_ptr<Optimizer>> optimizer =
        Optimizer::make(optimizer_config(job), learner.network.parameter_layout());
    if (!optimizer) return std::move(optimizer).status().at("optimizer");
    learner.optimizer = std::move(*optimizer);
  }
  const StrategyContext context{job, hooks, **setup, learner, progress};
  // Before this member joins the others, so that slow data blocks no other member.
  Result<std::unique_ptr<data::Loader>> batches = make_loader(**setup, job);
  if (!batches) return std::move(batches).status();
  Result<std::unique_ptr<Strategy>> strategy = make_strategy(context);
  if (!strategy) return std::move(strategy).status();
  std::unique_ptr<Overseer> overseer;
  if ((*strategy)->leads()) {
    Result<std::unique_ptr<Overseer>> made = Overseer::make(job, **setup, progress, hooks);
    if (!made) {
      (*strategy)->end(made.status());
      return std::move(made).status();
    }
    overseer = std::move(*made);
  }
  return Training(context, **strategy, std::move(overseer), std::move(*batches)).run(begin);
}

}  // namespace radl::engine
