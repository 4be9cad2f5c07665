// The nodes that a command names, and connections to them: what `ssh`, `exec` and `cp` share.
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

// An infrastructure's nodes as its state has them.
struct Nodes {
  Snapshot state;
  std::string work_directory;
  Environment environment;
};
Result<Nodes> load_nodes(const Host& host, const ProjectOptions& options, const Stop& stop = {});

// Those called so: an address, or a system for all of its nodes; sorted. NotFound lists what there is.
Result<std::vector<const ResourceRecord*>> nodes_called(const Snapshot& state, const std::string& name);
// The one called so; "worker" means worker[0] where there is only one.
Result<const ResourceRecord*> node_called(const Snapshot& state, const std::string& name);

// The private key that radlc made for logins at the node; "" if they use another one.
std::string login_key_of(const Nodes& nodes, const std::string& address);

// Logs in with the key that the state names.
Result<std::unique_ptr<Remote>> connect_to(const Nodes& nodes, const ResourceRecord& node);

// Calls `work` once for each node, at most `parallelism` at a time, and waits for all. Gives what each
// returned, in the nodes' order.
std::vector<int> on_each(const std::vector<const ResourceRecord*>& nodes, int parallelism,
                         const std::function<int(const ResourceRecord& node)>& work);

}  // namespace radl::driver
