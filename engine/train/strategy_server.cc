// A worker of parameter servers: takes a batch number and weights from them, gives back gradients.
//
// A statistic of batch normalisation is a running mean: after a batch it is keep * before + (1 - keep) * the
// batch's own. What a worker hands in is the second part alone. So it does not matter how old the statistics
// are that it had read, nor how many workers there are: a server's remain a mean of what batches had. (Adding
// up changes, which are against old values, diverges: with momentum 0.4 from 5 workers on, with 0.1 from 17.)
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "engine/train/cluster.h"
#include "engine/train/hints.h"
#include "engine/train/statistics.h"
#include "engine/train/strategy.h"

namespace radl::engine {
namespace {

constexpr int kWatched = 50;  // exchanges that a worker measures before it reports what limits it

class ServerWorker : public Strategy {
 public:
  ServerWorker(const StrategyContext& c, std::unique_ptr<cluster::WorkerClient> client)
      : hooks_(c.hooks),
        network_(c.learner.network),
        progress_(c.progress),
        overlaps_(c.job.sync.overlap),
        // In mode "sync" a worker also waits for others.
        watches_(c.job.sync.mode != SyncMode::Sync),
        keep_(statistics_keep(network_)),
        client_(std::move(client)) {}
  // After an exception in a step, the client must not wait for the rest of its gradients.
  ~ServerWorker() override {
    if (part_) part_->abandon();
  }

  Status begin(TrainingState&) override {
    return take(client_->begin(network_.parameters(), network_.statistics()));
  }

  Result<Work> next() override {
    // One whose machine is about to be interrupted leaves its batch to the others.
    if (assignment_.finished || hooks_.interrupted()) return Work{.finished = true};
    if (hooks_.stop.asked()) return Status(Code::Cancelled, "interrupted; the other workers continue");
    const std::span<float> statistics = network_.statistics();
    for (size_t i = 0; i < statistics.size(); ++i)
      if (keep_[i] < 1) statistics[i] = 0;  // so that the step leaves what it adds
    step_began_ = SteadyClock::now();
    Work out{.batch = assignment_.ticket};
    if (assignment_.then != assignment_.ticket) out.then = assignment_.then;
    return out;
  }

  void ready(const ReadyGradients& ready) override {
    if (!overlaps_) return;
    gradients_.resize(ready.gradients.size());
    if (!part_) client_->begin_push(part_.emplace(gradients_));
    std::copy(ready.gradients.begin() + static_cast<long>(ready.begin),
              ready.gradients.begin() + static_cast<long>(ready.end),
              gradients_.begin() + static_cast<long>(ready.begin));
    part_->announce(ready.begin, ready.end);
  }

  Result<Update> finish(const Outcome* own) override {
    if (part_)
      part_->complete({}, {});
    else
      gradients_.assign(own->gradients.begin(), own->gradients.end());
    const std::span<const float> statistics = network_.statistics();
    added_.resize(statistics.size());
    for (size_t i = 0; i < added_.size(); ++i) added_[i] = keep_[i] < 1 ? statistics[i] : 0;
    const TrainSums& sums = own->sums;
    const cluster::StepOutcome step{.rate = own->rate,
                                    .loss = sums.loss,
                                    .correct = static_cast<uint32_t>(sums.correct),
                                    .images = static_cast<uint32_t>(sums.images),
                                    .gradients = gradients_,
                                    .statistics = added_,
                                    .updates = own->pieces};
    const auto begin = SteadyClock::now();
    step_seconds_ += seconds_since(step_began_);
    Status got = take(client_->push(step, network_.parameters(), network_.statistics()));
    exchange_seconds_ += seconds_since(begin);
    part_.reset();
    if (!got.ok()) return got;
    if (++exchanges_ == kWatched && watches_) say_what_limits();
    return Update{.border = false};  // the chief keeps what the servers hold
  }

  void end(const Status& why) override { client_->leave(why); }
  cluster::Traffic traffic() const override { return client_->traffic(); }
  double exchange_seconds() const override { return exchange_seconds_; }

 private:
  // Called once, after the first kWatched exchanges.
  void say_what_limits() {
    const cluster::Traffic links = client_->traffic();
    const Hint hint = server_hint({.step_seconds = step_seconds_ / kWatched,
                                   .exchange_seconds = exchange_seconds_ / kWatched,
                                   .round_trip_seconds = links.round_trip_seconds,
                                   .bytes = static_cast<double>(links.sent + links.received) / kWatched,
                                   .link_bytes_per_second = links.bytes_per_second});
    if (hint) progress_.emit("warning", {{"about", hint.about}, {"message", hint.message}});
  }

  Status take(Result<cluster::Assignment> next) {
    if (next.ok()) assignment_ = std::move(*next);
    return next.status();
  }

  const RunHooks& hooks_;
  Network& network_;
  Progress& progress_;
  const bool overlaps_, watches_;
  const std::vector<float> keep_;
  std::vector<float> added_;                   // by the batch to the statistics
  std::vector<float> gradients_;               // of the batch, as they are sent
  std::optional<cluster::Contribution> part_;  // of gradients_, from the first ready() to finish()
  cluster::Assignment assignment_;
  double exchange_seconds_ = 0, step_seconds_ = 0;
  int exchanges_ = 0;
  SteadyClock::time_point step_began_;
  std::unique_ptr<cluster::WorkerClient> client_;  // last member: its threads use those above
};

}  // namespace

StrategyResult make_server_worker(const StrategyContext& c) {
  Result<std::string> key = cluster::read_job_key(c.job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  cluster::ClientOptions options = client_options(c.job, c.setup, c.hooks);
  options.dial = server_dial(c.job, {cluster::Role::Worker, options.index}, *key);
  Result<std::unique_ptr<cluster::WorkerClient>> client =
      cluster::WorkerClient::connect(options, tcp_connector(c.job, c.hooks, cluster::Role::Worker, *key));
  if (!client) return std::move(client).status();
  return StrategyResult(std::make_unique<ServerWorker>(c, std::move(*client)));
}

}  // namespace radl::engine
