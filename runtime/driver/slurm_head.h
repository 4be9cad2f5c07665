// The node with Slurm's controller, which `submit`, `queue` and `cancel` access over SSH.
#pragma once

#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/nodes.h"
#include "runtime/driver/slurm_jobs.h"

namespace radl::driver {

// nullptr: no step of the infrastructure installs slurmctld.
const ResourceRecord* slurm_head(const Snapshot& state);

// The node that Slurm calls `host`: "worker-3" of the system worker or of a module's "cluster.worker", or by
// its host name. nullptr: the state has no such node.
const ResourceRecord* node_of_slurm_host(const Snapshot& state, const std::string& host);

// Standard output of a shell command. Invalid: the exit status is not 0; the message has its output.
Result<std::string> output_of(Remote& remote, const std::string& command, std::string input,
                              const Stop& stop);

// The tasks of all jobs known to the controller, or only of `job` ("12", "12_3"). The controller forgets jobs
// some minutes after their end. An unknown job has no tasks.
Result<std::vector<QueuedTask>> slurm_queue(Remote& head, const std::string& job, const Stop& stop);

// Why waiting jobs get no node, with the command that helps. Empty: a node accepts jobs, or `radlc autoscale`
// creates one. `files`: words that name the infrastructure on a command line (project_words).
Result<std::string> why_unserved(const Snapshot& state, Remote& head, const std::string& files,
                                 const Stop& stop);

}  // namespace radl::driver
