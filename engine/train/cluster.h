// What the tasks of a cluster have in common: keys, links and options from the job.
#pragma once

#include <string>

#include "engine/cluster/client.h"
#include "engine/cluster/server.h"
#include "engine/train/setup.h"
#include "engine/train/training.h"

namespace radl::engine {

cluster::ClientOptions client_options(const Job& job, const Setup& setup, const RunHooks& hooks);
// Of a chief: it needs no model to ask servers.
cluster::ClientOptions chief_options(const Job& job, const RunHooks& hooks, const std::string& key);
cluster::ServerOptions server_options(const Job& job, const std::string& key);
// Reaches a server that has taken over, or has returned.
cluster::Dial server_dial(const Job& job, cluster::Identity self, const std::string& key);
// Links to the servers by TCP; `local` (may be null) makes the one to server 0 instead.
cluster::Connector tcp_connector(const Job& job, const RunHooks& hooks, cluster::Role role,
                                 const std::string& key,
                                 std::function<std::unique_ptr<cluster::Link>()> local = {});

// The chief's work over links that it makes with `connector`: gives the servers their weights, watches,
// evaluates, writes checkpoints, and ends the job. `options`: from chief_options().
Result<RunSummary> oversee_cluster(const Job& job, const RunHooks& hooks, Progress& progress,
                                   const cluster::ClientOptions& options,
                                   const cluster::Connector& connector);
// The same for a successor, whose `client` has taken over. `duties`: as shared by the lost chief.
Result<RunSummary> continue_cluster(const Job& job, const RunHooks& hooks, Progress& progress,
                                    cluster::ChiefClient& client, const std::string& duties);

}  // namespace radl::engine
