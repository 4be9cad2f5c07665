// The training engine on a node: the program and, on a separate machine, the libraries that it needs with
// their loader. Nothing is installed there.
#pragma once

#include <string>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

struct Engine {
  std::string folder;   // on the node
  std::string command;  // shell words
  bool sent = false;    // something was sent
};

// Copies it by content hash; the folder's name contains the digest of its content. Unsupported: the node has
// another processor architecture.
Result<Engine> place_engine(const NodeHandle& node, const Context& context);

// The tasks' processes, each run on its job file (write_job).
std::vector<jobs::Launch> launches(const Engine& engine, const std::vector<Task>& tasks);
// Writes a task's job file to the job's folder, and the key for its links.
Status write_job(jobs::Member& member, const Task& task, const Json& job, const std::string& key,
                 const Stop& stop);
// What Member::clear() removes from a node's folder; with `fresh` also checkpoints and results.
std::string files_of_a_run(bool fresh);

}  // namespace radl::training
