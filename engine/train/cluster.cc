#include "engine/train/cluster.h"

#include <fmt/format.h>

#include "engine/train/duties.h"

namespace radl::engine {
namespace {

cluster::Milliseconds milliseconds(double seconds) {
  return cluster::Milliseconds(static_cast<int64_t>(seconds * 1000));
}

cluster::Mode mode_of(SyncMode mode) {
  return mode == SyncMode::Sync    ? cluster::Mode::Sync
         : mode == SyncMode::Stale ? cluster::Mode::Stale
                                   : cluster::Mode::Async;
}

}  // namespace

static cluster::ClientOptions common_options(const Job& job, const RunHooks& hooks) {
  cluster::ClientOptions out;
  out.index = static_cast<uint32_t>(job.task.index);
  out.shards = static_cast<uint32_t>(job.cluster.ps.size());
  out.peer_timeout = milliseconds(job.peer_timeout_seconds);
  out.start_timeout = milliseconds(job.start_timeout_seconds);
  out.stop = hooks.stop;
  return out;
}

cluster::ClientOptions client_options(const Job& job, const Setup& setup, const RunHooks& hooks) {
  cluster::ClientOptions out = common_options(job, hooks);
  out.job_digest = setup.digest;
  out.parameters = setup.network->parameters().size();
  out.statistics = setup.network->statistics().size();
  if (!without_servers(job.sync.mode)) out.gradients = static_cast<cluster::Numbers>(job.sync.gradients);
  return out;
}

cluster::ClientOptions chief_options(const Job& job, const RunHooks& hooks, const std::string& key) {
  cluster::ClientOptions out = common_options(job, hooks);
  out.job_digest = job_digest(job);
  out.dial = server_dial(job, {cluster::Role::Chief, out.index}, key);
  return out;
}

cluster::ServerOptions server_options(const Job& job, const std::string& key) {
  cluster::ServerOptions out;
  out.index = static_cast<uint32_t>(job.task.index);
  out.address =
      job.task.listen.empty() ? job.cluster.ps[static_cast<size_t>(job.task.index)] : job.task.listen;
  out.key = key;
  out.dial = server_dial(job, {cluster::Role::Server, out.index}, key);
  out.job_digest = job_digest(job);
  out.shard.mode = mode_of(job.sync.mode);
  out.shard.staleness = job.sync.staleness;
  out.shard.backups = static_cast<size_t>(job.sync.backup_workers);
  out.shard.compensation = static_cast<float>(job.sync.compensation);
  out.shard.expected_workers = job.cluster.worker.size();
  out.shard.gather = milliseconds(job.peer_timeout_seconds);
  out.shard.threads = threads_of(job);
  out.shard.weights = static_cast<cluster::Numbers>(job.sync.weights);
  out.peer_timeout = milliseconds(job.peer_timeout_seconds);
  out.start_timeout = milliseconds(job.start_timeout_seconds);
  out.may_lead = [job](const std::string& duties) { return can_take_over(job, duties); };
  out.separate_chief = !job.cluster.chief.empty();
  return out;
}

cluster::Dial server_dial(const Job& job, cluster::Identity self, const std::string& key) {
  return [servers = job.cluster.ps, self, key](uint32_t server, cluster::Milliseconds patience) {
    return cluster::try_connect_tcp(servers[server], key, self, {cluster::Role::Server, server}, patience);
  };
}

cluster::Connector tcp_connector(const Job& job, const RunHooks& hooks, cluster::Role role,
                                 const std::string& key,
                                 std::function<std::unique_ptr<cluster::Link>()> local) {
  cluster::Identity self{role, static_cast<uint32_t>(job.task.index)};
  return [servers = job.cluster.ps, patience = milliseconds(job.start_timeout_seconds), stop = hooks.stop,
          key, self, local = std::move(local)](uint32_t shard) -> Result<std::unique_ptr<cluster::Link>> {
    if (shard == 0 && local) return local();
    return cluster::connect_tcp(servers[shard], key, self, {cluster::Role::Server, shard}, patience, stop);
  };
}

}  // namespace radl::engine
