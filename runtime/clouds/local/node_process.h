// The processes of a node: started, recognised, ended to the last.
#pragma once

#include <vector>

#include "runtime/base/context.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// Starts the server and waits until it answers; tries another port when its own is taken (and saves the
// record).
Status start_node(const NodeDirectory& node, Record& record, const Context& context);

// True when the process that was started is still the one (id and start time).
bool node_runs(const NodeDirectory& node);

// The process in the namespaces of a node that is isolated and runs: /proc/<id>/root is its file system. 0:
// none.
int inner_process(const NodeDirectory& node);

// Every process that belongs to the node: its server, what descends from it, and whatever else carries its
// mark.
std::vector<int> processes_of(const NodeDirectory& node);

// Ends all of them and sees that they are gone; Retry names those that would not go.
Status end_processes(const NodeDirectory& node);

}  // namespace radl::local
