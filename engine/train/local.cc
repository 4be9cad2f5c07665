// Training in one process: the loop that everything else is a distribution of.
#include <fmt/format.h>

#include <algorithm>

#include "engine/train/batches.h"
#include "engine/train/overseer.h"
#include "engine/train/tasks.h"

namespace radl::engine {
namespace {

class LocalRun {
 public:
  LocalRun(const Job& job, const RunHooks& hooks, Setup& setup, Overseer& overseer)
      : job_(job), hooks_(hooks), setup_(setup), overseer_(overseer), network_(*setup.network) {}

  Status prepare() {
    Result<std::unique_ptr<Optimizer>> optimizer =
        Optimizer::make(optimizer_config(job_), network_.parameter_layout());
    if (!optimizer) return std::move(optimizer).status().at("optimizer");
    optimizer_ = std::move(*optimizer);
    Result<std::optional<Checkpoint>> found = overseer_.resume();
    if (!found) return std::move(found).status();
    if (*found) {
      if (Status restored = restore(**found); !restored.ok()) return restored;
    } else if (Status whitened = whiten_from_data(setup_, job_); !whitened.ok()) {
      return whitened;
    }
    if (job_.average > 0 && !average_) average_ = std::make_unique<WeightAverage>(network_.parameters());
    batches_ = make_batches(setup_, job_);
    return {};
  }

  Result<RunSummary> train() {
    overseer_.begin(done_);
    while (done_ < setup_.length.total) {
      if (hooks_.cancelled != nullptr && *hooks_.cancelled) return interrupted();
      if (Status stepped = step(); !stepped.ok()) return stepped;
      if (overseer_.evaluation_due(done_)) {
        if (Status e = overseer_.evaluate(done_, average()); !e.ok())
          return e.code() == Code::Cancelled ? interrupted() : e;
      }
      if (overseer_.checkpoint_due(done_)) {
        if (Status saved = overseer_.save(checkpoint()); !saved.ok()) return saved;
      }
    }
    overseer_.note("data_wait_seconds", batches_->wait_seconds());
    overseer_.note("skipped_pictures", static_cast<double>(batches_->skipped()));
    return overseer_.finish(done_, average());
  }

 private:
  std::span<const float> average() {
    return average_ ? std::span<const float>(average_->average()) : std::span<const float>();
  }

  Status step() {
    Result<Batch> batch = batches_->get(done_);
    if (!batch) return std::move(batch).status();
    batches_->hint(done_ + 1);
    network_.set_step(done_);
    StepResult result = network_.forward_backward(*batch);
    sums_.steps += 1;
    sums_.loss += result.loss;
    sums_.correct += static_cast<uint64_t>(result.correct);
    sums_.pictures += static_cast<uint64_t>(batch->size);
    if (Status bad = overseer_.step(done_ + 1, sums_); !bad.ok())
      return bad;  // before the weights are touched
    optimizer_->step(network_.parameters(), network_.gradients(), setup_.rate(done_));
    network_.parameters_changed();
    ++done_;
    if (average_) average_->ema(network_.parameters(), static_cast<float>(job_.average));
    return {};
  }

  Status interrupted() {
    Status saved = overseer_.save(checkpoint());
    if (saved.ok()) saved = overseer_.settle();
    if (!saved.ok()) return saved;
    return {Code::Cancelled,
            job_.directories.checkpoint.empty()
                ? fmt::format("interrupted at batch {}", done_)
                : fmt::format("interrupted at batch {}; the same command resumes from there", done_)};
  }

  Checkpoint checkpoint() {
    Checkpoint c;
    c.step = c.next = done_;
    c.version = optimizer_->steps();
    c.weights.assign(network_.parameters().begin(), network_.parameters().end());
    c.statistics.assign(network_.statistics().begin(), network_.statistics().end());
    if (average_) c.average.assign(average().begin(), average().end());
    c.optimizer_steps = optimizer_->steps();
    std::span<float> state = optimizer_->state();
    for (size_t at = 0; at + c.weights.size() <= state.size(); at += c.weights.size()) {
      c.optimizer.emplace_back(state.begin() + static_cast<long>(at),
                               state.begin() + static_cast<long>(at + c.weights.size()));
    }
    return c;
  }

  Status restore(const Checkpoint& c) {
    if (!c.again.empty())
      return invalid("the checkpoint is of a cluster's run, with batches that are still to be done");
    std::span<float> state = optimizer_->state();
    if (c.optimizer.size() * c.weights.size() != state.size() ||
        (!c.average.empty() && c.average.size() != c.weights.size())) {
      return {Code::Corrupt, "the checkpoint's optimizer state does not fit the optimizer"};
    }
    std::copy(c.weights.begin(), c.weights.end(), network_.parameters().begin());
    std::copy(c.statistics.begin(), c.statistics.end(), network_.statistics().begin());
    for (size_t i = 0; i < c.optimizer.size(); ++i) {
      std::copy(c.optimizer[i].begin(), c.optimizer[i].end(),
                state.begin() + static_cast<long>(i * c.weights.size()));
    }
    optimizer_->set_steps(c.optimizer_steps);
    if (!c.average.empty()) average_ = std::make_unique<WeightAverage>(c.average);
    network_.parameters_changed();
    done_ = c.step;
    return {};
  }

  const Job& job_;
  const RunHooks& hooks_;
  Setup& setup_;
  Overseer& overseer_;
  Network& network_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<WeightAverage> average_;
  std::unique_ptr<BatchSource> batches_;
  TrainSums sums_;
  uint64_t done_ = 0;
};

}  // namespace

Result<RunSummary> run_local(const Job& job, const RunHooks& hooks, Progress& progress) {
  Result<std::unique_ptr<Setup>> setup = Setup::make(job, true);
  if (!setup) return std::move(setup).status();
  Result<std::unique_ptr<Overseer>> overseer = Overseer::make(job, **setup, progress, hooks);
  if (!overseer) return std::move(overseer).status();
  LocalRun run(job, hooks, **setup, **overseer);
  if (Status ready = run.prepare(); !ready.ok()) return ready;
  Result<RunSummary> out = run.train();
  if (!out.ok()) (void)(*overseer)->settle();
  return out;
}

}  // namespace radl::engine
