// The chief of a cluster: evaluates, writes checkpoints and ends the job, while servers and workers train.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/train/cluster.h"
#include "engine/train/duties.h"
#include "engine/train/guard.h"
#include "engine/train/overseer.h"
#include "engine/train/statistics.h"

namespace radl::engine {
namespace {

constexpr cluster::Milliseconds kLook{100};  // between two looks at the servers

class ClusterRun {
 public:
  ClusterRun(const Job& job, const RunHooks& hooks, Setup& setup, Progress& progress, Overseer& overseer,
             cluster::ChiefClient& client)
      : job_(job),
        hooks_(hooks),
        progress_(progress),
        setup_(setup),
        overseer_(overseer),
        client_(client),
        network_(*setup.network) {}

  Status start() {
    Result<std::optional<Checkpoint>> found = overseer_.resume();
    if (!found) return std::move(found).status();
    Result<OptimizerPlan> optimizer =
        OptimizerPlan::make(optimizer_config(job_), network_.parameter_layout());
    if (!optimizer) return std::move(optimizer).status().at("optimizer");
    cluster::Init whole{.count = network_.parameters().size(),
                        .parameters = network_.parameters().size(),
                        .batches = setup_.length.total,
                        .optimizer = std::move(*optimizer),
                        .average = average_config(job_, setup_.length),
                        .keep = statistics_keep(network_)};
    if (*found) {
      whole.state = std::move(**found);
    } else {
      if (Status whitened = whiten_from_data(setup_, job_); !whitened.ok()) return whitened;
      whole.state.weights.assign(network_.parameters().begin(), network_.parameters().end());
      whole.state.statistics.assign(network_.statistics().begin(), network_.statistics().end());
    }
    Result<cluster::Borders> borders = this->borders();
    if (!borders) return std::move(borders).status();
    if (Status begun = client_.init(whole, *borders); !begun.ok()) return begun;
    overseer_.begin(whole.state.done());
    share();
    return {};
  }

  // As a lost chief's successor.
  Status take_over(const std::string& duties) {
    Result<cluster::Borders> borders = this->borders();
    if (!borders) return std::move(borders).status();
    client_.resume(*borders);
    Result<cluster::Report> report = client_.report();
    if (!report) return std::move(report).status();
    before_ = sums_of(*report);
    for (const cluster::MemberReport& m : report->members) states_[m.index] = m.state;
    if (Status taken = overseer_.take_over(report->tickets_done, read_duties(duties).history); !taken.ok())
      return taken;
    tell_changes();
    share();
    // The checkpoints of the lost chief may be on a machine that is gone.
    return report->tickets_done < report->tickets ? save_now() : Status();
  }

  Result<RunSummary> watch() {
    for (;;) {
      if (hooks_.stop.asked()) return interrupted();
      Result<cluster::Report> report = client_.report();
      tell_changes();
      if (!report) return std::move(report).status();
      if (Status bad = look(*report); !bad.ok()) return bad;
      if (report->tickets_done == report->tickets) return finish(*report);
      if (Status kept = keep(report->tickets_done); !kept.ok())
        return kept.code() == Code::Cancelled ? interrupted() : kept;
      std::this_thread::sleep_for(kLook);
    }
  }

 private:
  Result<cluster::Borders> borders() const {
    return cluster::split_layout(network_.parameter_layout(), job_.cluster.ps.size(),
                                 needs_whole_tensors(job_.optimizer.name));
  }

  static TrainSums sums_of(const cluster::Report& report) {
    return {report.steps, report.correct, report.images, report.loss_sum};
  }

  void share() {
    SharedDuties duties = duties_of(job_);
    duties.history = overseer_.record();
    client_.share(write_duties(duties));
  }

  // Members and sums of a report.
  Status look(const cluster::Report& report) {
    bool anybody = false;
    for (const cluster::MemberReport& m : report.members) {
      anybody |= m.state == 0;
      std::string name = fmt::format("worker/{}", m.index);
      auto known = states_.find(m.index);
      if (known != states_.end() && known->second == m.state) continue;
      states_[m.index] = m.state;
      bool over = report.tickets_done == report.tickets;
      if (m.state == 1 && over) continue;  // it has nothing left to do
      overseer_.peer(m.state == 0   ? "joined"
                     : m.state == 1 ? "left"
                                    : "lost",
                     name, m.text, m.seconds_silent);
    }
    if (!report.failure.empty()) {
      return diverged(report.failure);
    }
    const TrainSums sums = difference(sums_of(report), before_);
    if (report.steps > 0)
      overseer_.note("mean_staleness",
                     static_cast<double>(report.staleness_sum) / static_cast<double>(report.steps));
    if (Status bad = overseer_.step(report.tickets_done, sums); !bad.ok()) return bad;
    return check_workers(anybody || report.tickets_done == report.tickets);
  }

  void tell_changes() {
    for (const cluster::ServerChange& change : client_.take_changes()) {
      const std::string name = fmt::format("ps/{}", change.index);
      overseer_.peer(change.lost ? "lost" : "joined", name, change.text, change.silent_seconds);
      if (!change.lost) continue;
      progress_.emit("warning",
                     {{"about", "redundancy"},
                      {"message", fmt::format("{} is lost, and its shards continue from their replicas. If "
                                              "another server is lost before {} is back, the training may "
                                              "end and resume from its last checkpoint.",
                                              name, name)}});
    }
  }

  Status check_workers(bool anybody) {
    if (anybody) {
      alone_since_ = cluster::Clock::now();
      return {};
    }
    double alone = std::chrono::duration<double>(cluster::Clock::now() - alone_since_).count();
    if (alone < job_.start_timeout_seconds) return {};
    if (!job_.directories.checkpoint.empty()) (void)save_now();
    return {Code::Timeout, fmt::format("no worker for {:.0f} s", alone)};
  }

  Status keep(uint64_t done) {
    if (overseer_.evaluation_due(done)) {
      if (Status fetched = fetch(); !fetched.ok()) return fetched;
      if (Status e = overseer_.evaluate(done, {}); !e.ok()) return e;
      share();
    }
    return overseer_.checkpoint_due(done) ? save_now() : Status();
  }

  Status fetch() {
    // Where weights are averaged the mean is what is evaluated and kept.
    Status got = client_.weights(network_.parameters(), network_.statistics(), true);
    network_.parameters_changed();
    return got;
  }

  Status save_now() {
    Result<TrainingState> now = client_.snapshot();
    return now ? overseer_.save(std::move(*now), 0) : std::move(now).status();
  }

  Status interrupted() {
    Status saved = save_now();
    if (saved.ok()) saved = overseer_.settle();
    if (!saved.ok()) return saved;
    return {Code::Cancelled, "interrupted; the same job resumes from the last checkpoint"};
  }

  Result<RunSummary> finish(const cluster::Report& report) {
    if (Status fetched = fetch(); !fetched.ok()) return fetched;
    return overseer_.finish(report.tickets_done, {}, [this] { return client_.snapshot(); });
  }

  const Job& job_;
  const RunHooks& hooks_;
  Progress& progress_;
  Setup& setup_;
  Overseer& overseer_;
  cluster::ChiefClient& client_;
  Network& network_;
  std::map<uint32_t, uint8_t> states_;
  cluster::Clock::time_point alone_since_ = cluster::Clock::now();
  TrainSums before_;  // of the lost chief's time
};

}  // namespace

// The setup of a chief, whose evaluations must not slow the training: for this thread and those it starts.
static Result<std::unique_ptr<Setup>> chief_setup(Job& job) {
  ::setpriority(PRIO_PROCESS, 0, 5);
  return Setup::make(job, false);
}

Result<RunSummary> oversee_cluster(const Job& given, const RunHooks& hooks, Progress& progress,
                                   const cluster::ClientOptions& options,
                                   const cluster::Connector& connector) {
  Job job = given;
  Result<std::unique_ptr<Setup>> setup = chief_setup(job);
  if (!setup) return std::move(setup).status();
  Result<std::unique_ptr<Overseer>> overseer = Overseer::make(job, **setup, progress, hooks);
  if (!overseer) return std::move(overseer).status();
  Result<std::unique_ptr<cluster::ChiefClient>> client = cluster::ChiefClient::connect(options, connector);
  if (!client) return std::move(client).status();
  ClusterRun run(job, hooks, **setup, progress, **overseer, **client);
  Status started = run.start();
  Result<RunSummary> out = started.ok() ? run.watch() : Result<RunSummary>(started);
  (*client)->stop(out.status());
  (void)(*overseer)->settle();
  return out;
}

Result<RunSummary> continue_cluster(const Job& given, const RunHooks& hooks, Progress& progress,
                                    cluster::ChiefClient& client, const std::string& duties) {
  Job job = given;
  const auto run = [&]() -> Result<RunSummary> {
    Result<std::unique_ptr<Setup>> setup = chief_setup(job);
    if (!setup) return std::move(setup).status();
    Result<std::unique_ptr<Overseer>> overseer = Overseer::make(job, **setup, progress, hooks);
    if (!overseer) return std::move(overseer).status();
    ClusterRun run(job, hooks, **setup, progress, **overseer, client);
    const Status taken = run.take_over(duties);
    Result<RunSummary> out = taken.ok() ? run.watch() : Result<RunSummary>(taken);
    (void)(*overseer)->settle();
    return out;
  };
  Result<RunSummary> out = run();
  client.stop(out.status());
  return out;
}

Result<RunSummary> run_chief(const Job& job, const RunHooks& hooks, Progress& progress) {
  Result<std::string> key = cluster::read_job_key(job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  cluster::ClientOptions options = chief_options(job, hooks, *key);
  options.separate = true;
  return oversee_cluster(job, hooks, progress, options,
                         tcp_connector(job, hooks, cluster::Role::Chief, *key));
}

}  // namespace radl::engine
