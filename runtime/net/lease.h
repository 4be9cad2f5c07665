// Who runs a step's commands on a node, so that nothing of them goes on beside what comes after.
//
// A shell around each command of a step enters itself in ~/.radl/lease on the node and takes its entry away
// when the command has ended. An entry lives as long as its process does: process id, start time and boot
// have to agree. A run that is killed, or loses its connection, leaves its entries to whoever acts on the
// node next.
#pragma once

#include <functional>
#include <string>

#include "common/stop.h"
#include "runtime/net/remote.h"

namespace radl {

struct Lease {
  std::string infrastructure;  // waits for those of others; ends what is left of its own
  std::string run;             // of this run of radlc; steps of one run may act on a node side by side
  std::string step;
  std::string since;  // for people
};

// Shell text: the command, entered in the node's folder while it runs. Exit status 125: it could not be
// entered and was not run.
std::string under_lease(const Lease& lease, const std::string& command);

// A program (text of a shell script) that runs ssh with the same arguments, the command on the node under
// this lease: for Ansible, which takes the name of its ssh.
std::string ssh_under_lease(const Lease& lease);

// Before a step acts on a node: ends what an earlier run, or an earlier attempt at this step, has left going
// there (TERM, after 5 s KILL; as root where the login has sudo), waits for what another infrastructure runs,
// and tells of both in one line each. Conflict: something could not be ended.
Status take_lease(Remote& remote, const Lease& lease, const Stop& stop,
                  const std::function<void(const std::string& line)>& log);

// The same, and in the same round trip a script of the login's: `then`, whose input it is, what it came to.
// Its output may have lines of ours before its own.
Result<ExecResult> take_lease_then(Remote& remote, const Lease& lease, const ExecOptions& then,
                                   const std::function<void(const std::string& line)>& log);

// Shell text that ends the process tree of $1, which began at $2 (as /proc has it; empty: whenever). Exit
// status 1: something of it is still there.
std::string end_tree_script();

// Shell text that ends process `pid`, if it is the one that began at `start` (clock ticks since boot; empty:
// any), and everything of its session or below it, likewise.
std::string end_process_tree(const std::string& pid, const std::string& start);

}  // namespace radl
