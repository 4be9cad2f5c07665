// The processes of a node: starts, identifies and ends all of them.
#pragma once

#include <vector>

#include "runtime/base/context.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// Starts the server and waits until it responds. If its port is taken, tries another and saves the
// record.
Status start_node(const NodeDirectory& node, Record& record, const Context& context);

// True if the started process still runs (same ID and start time).
bool node_runs(const NodeDirectory& node);

// The process inside the namespaces of an isolated, running node: /proc/<id>/root is its file system. 0:
// none.
int inner_process(const NodeDirectory& node);

// Every process of the node: its server, the server's descendants, and all others that carry its
// mark.
std::vector<int> processes_of(const NodeDirectory& node);

// Ends all of them and verifies it. Retry names those that remain.
Status end_processes(const NodeDirectory& node);

}  // namespace radl::local
