// The node with Slurm's controller: what `submit`, `queue` and `cancel` ask it over SSH.
#pragma once

#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/cli/slurm_jobs.h"
#include "runtime/driver/nodes.h"

namespace radl::cli {

// nullptr: no step of the infrastructure installs slurmctld.
const ResourceRecord* slurm_head(const Snapshot& state);

// The node that Slurm calls `host`: "worker-3" of system worker, or of a module's "cluster.worker", or by its
// host name. nullptr: the state has no such node.
const ResourceRecord* node_of_slurm_host(const Snapshot& state, const std::string& host);

// Standard output of a shell command. Invalid: its exit status is not 0; the message has what it wrote.
Result<std::string> output_of(Remote& remote, const std::string& command, std::string input,
                              const Stop& stop);

// The tasks of all jobs that the controller knows, or of `job` alone ("12", "12_3"). It forgets jobs some
// minutes after their end. An unknown job has no tasks.
Result<std::vector<QueuedTask>> slurm_queue(Remote& head, const std::string& job, const Stop& stop);

// Why jobs that wait get no node, with the command that helps; empty: a node takes jobs, or `radlc autoscale`
// creates one. `files`: the words that name the infrastructure on a command line (project_words).
Result<std::string> why_unserved(const Snapshot& state, Remote& head, const std::string& files,
                                 const Stop& stop);

}  // namespace radl::cli
