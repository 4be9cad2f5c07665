// Tracks who runs a step's commands on a node, so that none of them continues next to later actions.
//
// A shell around each command of a step registers itself in ~/.radl/lease on the node and removes its entry
// when the command has ended. An entry is valid while its process lives: process ID, start time and boot must
// match. A run that is killed or loses its connection leaves its entries for the next one that acts on the
// node.
#pragma once

#include <functional>
#include <string>

#include "common/stop.h"
#include "runtime/net/remote.h"

namespace radl {

struct Lease {
  std::string infrastructure;  // waits for other infrastructures; ends leftovers of its own
  std::string run;             // this run of radlc; steps of one run may act on a node concurrently
  std::string step;
  std::string since;  // for display
};

// Shell text: the command, registered in the node's folder while it runs. Exit status 125: registration
// failed and the command was not run.
std::string under_lease(const Lease& lease, const std::string& command);

// A program (text of a shell script) that runs ssh with its arguments and the remote command under this
// lease: for Ansible, which accepts the name of its ssh program.
std::string ssh_under_lease(const Lease& lease);

// Call before a step acts on a node: ends what an earlier run or attempt of this step left running (TERM,
// then KILL after 5 s; as root if the login has sudo), waits for other infrastructures, and reports both in
// one line each. Conflict: a process could not be ended.
Status take_lease(Remote& remote, const Lease& lease, const Stop& stop,
                  const std::function<void(const std::string& line)>& log);

// Same, and in the same round trip runs the login's script `then`, passed as input, and returns its result.
// Its output may be preceded by lines of radlc.
Result<ExecResult> take_lease_then(Remote& remote, const Lease& lease, const ExecOptions& then,
                                   const std::function<void(const std::string& line)>& log);

// Shell text that ends the process tree of $1, which started at $2 (as in /proc; empty: any). Exit status 1:
// a part of it still exists.
std::string end_tree_script();

// Shell text that ends process `pid`, if it started at `start` (clock ticks since boot; empty: any), and
// everything in its session or below it.
std::string end_process_tree(const std::string& pid, const std::string& start);

}  // namespace radl
