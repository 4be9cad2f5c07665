// The training engine on a node: the program and, on another machine, the libraries that it needs with their
// loader. Nothing is installed there.
#pragma once

#include <string>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

struct Engine {
  std::string folder;   // on the node
  std::string command;  // shell words that run it
  bool sent = false;    // something had to be sent
};

// Brings it by content hash; the folder's name holds the digest of all that is in it. Unsupported for a node
// of another processor architecture.
Result<Engine> place_engine(const NodeHandle& node, const Context& context);

// The processes of the tasks, each run on its job file (write_job).
std::vector<jobs::Launch> launches(const Engine& engine, const std::vector<Task>& tasks);
// The job file of a task in the job's folder, and the key of its links.
Status write_job(jobs::Member& member, const Task& task, const Json& job, const std::string& key,
                 const Stop& stop);
// What Member::clear() takes from a node's folder; with `fresh` checkpoints and results too.
std::string files_of_a_run(bool fresh);

}  // namespace radl::training
