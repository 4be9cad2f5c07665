// Finds the nodes that a command names, and connects to them. Used by `ssh`, `exec` and `cp`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/project.h"
#include "runtime/net/remote.h"
#include "runtime/state/store.h"

namespace radl::driver {

// An infrastructure's nodes, from its state.
struct Nodes {
  Snapshot state;
  std::string work_directory;
  Environment environment;
};
Result<Nodes> load_nodes(const Host& host, const ProjectOptions& options, const Stop& stop = {});

// Nodes by name: an address, or a system for all its nodes; sorted. NotFound lists the existing ones.
Result<std::vector<const ResourceRecord*>> nodes_called(const Snapshot& state, const std::string& name);
// The node with this name; "worker" means worker[0] if there is only one.
Result<const ResourceRecord*> node_called(const Snapshot& state, const std::string& name);

// The private key that radlc created for logins to the node; "" if another key is used.
std::string login_key_of(const Nodes& nodes, const std::string& address);

// Logs in with the key named in the state.
Result<std::unique_ptr<Remote>> connect_to(const Nodes& nodes, const ResourceRecord& node);

// Calls `work` once per node, at most `parallelism` at a time, and waits for all. Returns the results in node
// order.
std::vector<int> on_each(const std::vector<const ResourceRecord*>& nodes, int parallelism,
                         const std::function<int(const ResourceRecord& node)>& work);

}  // namespace radl::driver
