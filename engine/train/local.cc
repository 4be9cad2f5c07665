// Training in one process: the loop that everything else is a distribution of.
#include <fmt/format.h>

#include "engine/cluster/message.h"
#include "engine/cluster/tickets.h"
#include "engine/train/guard.h"
#include "engine/train/overseer.h"
#include "engine/train/state.h"
#include "engine/train/step.h"
#include "engine/train/tasks.h"

namespace radl::engine {
namespace {

class LocalRun {
 public:
  LocalRun(const Job& job, const RunHooks& hooks, Setup& setup, Overseer& overseer)
      : job_(job),
        hooks_(hooks),
        setup_(setup),
        overseer_(overseer),
        network_(*setup.network),
        step_(network_, job),
        average_(average_config(job, setup.length)),
        tickets_({setup.length.total, 0, {}}) {}

  Status prepare() {
    Result<Supplies> supplies = make_supplies(setup_, job_);
    if (!supplies) return std::move(supplies).status();
    optimizer_ = std::move(supplies->optimizer);
    batches_ = std::move(supplies->batches);
    Result<std::optional<Checkpoint>> found = overseer_.resume();
    if (!found) return std::move(found).status();
    if (!*found) return whiten_from_data(setup_, job_);
    tickets_ = cluster::Tickets({setup_.length.total, (*found)->next, (*found)->again});
    return restore(**found, trainee());
  }

  Result<RunSummary> train() {
    overseer_.begin(tickets_.done());
    while (std::optional<uint64_t> ticket = tickets_.take(0)) {
      if (hooks_.stop.asked()) return interrupted();
      if (Status stepped = step(*ticket); !stepped.ok()) return stepped;
      uint64_t done = tickets_.done();
      if (overseer_.evaluation_due(done)) {
        if (Status e = overseer_.evaluate(done, average_.values()); !e.ok())
          return e.code() == Code::Cancelled ? interrupted() : e;
      }
      if (overseer_.checkpoint_due(done)) {
        if (Status saved = overseer_.save(capture(trainee(), tickets_.state())); !saved.ok()) return saved;
      }
    }
    overseer_.note("data_wait_seconds", batches_->wait_seconds());
    overseer_.note("skipped_images", static_cast<double>(batches_->skipped()));
    return overseer_.finish(tickets_.done(), average_.values(),
                            [this] { return capture(trainee(), tickets_.state()); });
  }

 private:
  Trainee trainee() { return {network_, *optimizer_, average_}; }

  Status step(uint64_t ticket) {
    Result<Batch> batch = batches_->get(ticket);
    if (!batch) return std::move(batch).status();
    if (ticket + 1 < setup_.length.total) batches_->hint(ticket + 1);
    StepResult result = step_.run(*batch, ticket);
    sums_.steps += 1;
    sums_.loss += result.loss;
    sums_.correct += static_cast<uint64_t>(result.correct);
    sums_.images += static_cast<uint64_t>(batch->size);
    // Before the weights are touched.
    if (Status bad = overseer_.step(tickets_.done() + 1, sums_); !bad.ok()) return bad;
    if (!cluster::all_finite(step_.gradients()))
      return diverged(fmt::format("a gradient became infinite or no number at batch {}", ticket));
    optimizer_->step(network_.parameters(), step_.gradients(), setup_.rate(ticket));
    network_.parameters_changed();
    tickets_.finish(0, ticket);
    average_.update(network_.parameters(), ticket);
    return {};
  }

  Status interrupted() {
    Status saved = overseer_.save(capture(trainee(), tickets_.state()));
    if (saved.ok()) saved = overseer_.settle();
    if (!saved.ok()) return saved;
    return {Code::Cancelled, job_.directories.checkpoint.empty()
                                 ? fmt::format("interrupted at batch {}", tickets_.done())
                                 : fmt::format("interrupted at batch {}; the same command resumes from there",
                                               tickets_.done())};
  }

  const Job& job_;
  const RunHooks& hooks_;
  Setup& setup_;
  Overseer& overseer_;
  Network& network_;
  BatchStep step_;
  WeightAverage average_;
  cluster::Tickets tickets_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<data::Loader> batches_;
  TrainSums sums_;
};

}  // namespace

Result<RunSummary> run_local(const Job& given, const RunHooks& hooks, Progress& progress) {
  Job job = given;
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
