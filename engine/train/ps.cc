// A parameter server as a task; ps/0 is the chief as well where the cluster names none.
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/clock.h"
#include "engine/train/cluster.h"

namespace radl::engine {
namespace {

void tell(Progress& progress, const cluster::ServerEvent& event) {
  if (event.kind == "replica_differs") progress.emit("warning", {{"message", event.text}});
  // Other members that come and go are the chief's to report.
  if (event.kind == "chief_lost") progress.emit("peer_lost", {{"peer", event.peer}, {"message", event.text}});
  if (event.kind == "chief_back") progress.emit("peer_joined", {{"peer", event.peer}});
  if (event.kind == "peer_refused")
    progress.emit("peer_refused", {{"peer", event.peer}, {"count", event.count}, {"message", event.text}});
}

// The server, with the chief in a thread beside it.
Result<RunSummary> serve_and_oversee(cluster::ParameterServer& server,
                                     const std::function<Result<RunSummary>()>& oversee) {
  std::optional<Result<RunSummary>> out;
  std::thread chief([&] {
    out = oversee();
    server.stop(out->status());  // also when it failed before it had a link
  });
  while (server.wait({}).code() == Code::Retry) {
  }
  chief.join();
  return std::move(*out);
}

Result<RunSummary> serve(const Job& job, const RunHooks& hooks, Progress& progress, const std::string& key,
                         cluster::ParameterServer& server) {
  auto begin = SteadyClock::now();
  progress.emit("started", {{"time", wall_seconds()}, {"address", server.address()}});
  const cluster::ClientOptions options = chief_options(job, hooks, key);
  const auto own = [&] { return server.local_link({cluster::Role::Chief, options.index}); };
  Status outcome;
  for (uint64_t attempt = 1;; ++attempt) {
    outcome = server.wait(hooks.stop);
    if (outcome.code() != Code::Retry) break;
    auto client =
        cluster::ChiefClient::take_over(options, server.map(), attempt, !job.cluster.chief.empty(), own);
    if (client.ok())
      return serve_and_oversee(
          server, [&] { return continue_cluster(job, hooks, progress, **client, server.duties()); });
    if (outcome = client.status(); outcome.code() != Code::Retry) break;
  }
  server.stop(outcome);
  if (!outcome.ok()) return outcome;
  RunSummary out;
  out.task = job.task.name();
  out.seconds = seconds_since(begin);
  progress.emit("finished", {{"seconds", out.seconds}});
  return out;
}

}  // namespace

Result<RunSummary> run_server(const Job& job, const RunHooks& hooks, Progress& progress) {
  Result<std::string> key = cluster::read_job_key(job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  Result<std::unique_ptr<cluster::ParameterServer>> server = cluster::ParameterServer::start(
      server_options(job, *key), [&](const cluster::ServerEvent& e) { tell(progress, e); });
  if (!server) return std::move(server).status();
  const bool chief_here = job.cluster.chief.empty() && job.task.index == 0;
  const cluster::ClientOptions options = chief_options(job, hooks, *key);
  // A server that was started again takes part like any other one.
  if (!chief_here || cluster::ChiefClient::has_begun(options))
    return serve(job, hooks, progress, *key, **server);
  return serve_and_oversee(**server, [&] {
    // The link is made when the chief says Hello over it: reading the dataset first may take long.
    const auto connector = tcp_connector(job, hooks, cluster::Role::Chief, *key, [&server] {
      return (*server)->local_link({cluster::Role::Chief, 0});
    });
    return oversee_cluster(job, hooks, progress, options, connector);
  });
}

}  // namespace radl::engine
