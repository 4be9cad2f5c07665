// What the first look at its nodes finds of a training: whether it runs there, and which nodes it lacks.
// Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

struct Found {
  // All nodes have this very run, but for those of workers that it can miss.
  bool same = false;
  // On those nodes, every process runs or has succeeded; a worker may have failed.
  bool whole = false;
  bool running = false;      // a process of it
  std::set<size_t> without;  // nodes whose workers are yet to join, or cannot be reached
  bool joinable() const { return same && whole; }
};

// `run`: of this training (Member::write_run). `looks`: one for each node; empty for a node that cannot be
// reached. `layout`: its workers get the numbers that they have where they run. If a lost chief has a
// successor, the first worker that runs stands for the chief until the tasks say who it is.
Found find_training(const Json& training, const std::vector<NodeHandle>& nodes,
                    const std::vector<jobs::Member::Look>& looks, const std::string& run, Layout& layout);

}  // namespace radl::training
