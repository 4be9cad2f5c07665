// A parameter server as a task; ps/0 is the chief as well where the cluster names none.
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/clock.h"
#include "engine/train/cluster.h"

namespace radl::engine {
namespace {

void tell(Progress& progress, const cluster::ServerEvent& event) {
  if (event.kind == "replica_differs") progress.emit("warning", {{"message", event.text}});
  if (event.kind != "peer_refused") return;  // who comes and goes is the chief's to tell
  progress.emit("peer_refused", {{"peer", event.peer}, {"count", event.count}, {"message", event.text}});
}

Result<RunSummary> serve(const Job& job, const RunHooks& hooks, Progress& progress,
                         cluster::ParameterServer& server) {
  auto begin = SteadyClock::now();
  progress.emit("started", {{"time", wall_seconds()}, {"address", server.address()}});
  Status outcome = server.wait(hooks.stop);
  server.stop(outcome);
  if (!outcome.ok()) return outcome;
  RunSummary out;
  out.task = job.task.name();
  out.seconds = seconds_since(begin);
  progress.emit("finished", {{"seconds", out.seconds}});
  return out;
}

Result<RunSummary> serve_and_oversee(const Job& job, const RunHooks& hooks, Progress& progress,
                                     const std::string& key, cluster::ParameterServer& server) {
  // The link is made when the chief says Hello over it: reading the dataset first may take long.
  auto connector = tcp_connector(job, hooks, cluster::Role::Chief, key, [&server] {
    return server.local_link({cluster::Role::Chief, 0});
  });
  std::optional<Result<RunSummary>> out;
  std::thread chief([&] {
    out = oversee_cluster(job, hooks, progress, connector, server_dial(job, {cluster::Role::Chief, 0}, key));
    server.stop(out->status());  // also when it failed before it had a link
  });
  (void)server.wait({});
  chief.join();
  return std::move(*out);
}

}  // namespace

Result<RunSummary> run_server(const Job& job, const RunHooks& hooks, Progress& progress) {
  Result<std::string> key = cluster::read_job_key(job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  Result<std::unique_ptr<cluster::ParameterServer>> server = cluster::ParameterServer::start(
      server_options(job, *key), [&](const cluster::ServerEvent& e) { tell(progress, e); });
  if (!server) return std::move(server).status();
  bool chief_here = job.cluster.chief.empty() && job.task.index == 0;
  return chief_here ? serve_and_oversee(job, hooks, progress, *key, **server)
                    : serve(job, hooks, progress, **server);
}

}  // namespace radl::engine
