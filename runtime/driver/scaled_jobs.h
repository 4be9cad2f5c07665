// Decides whether an apply that supervises trainings gives them the nodes that `radlc scale` has chosen
// meanwhile. Pure, except that the compiler reads the project's files.
#pragma once

#include <string>

#include "runtime/driver/project.h"

namespace radl::driver {

struct ScaledJobs {
  bool changes = false;  // running trainings get other workers, and nothing else changes
  std::string refused;   // why they do not, although nodes were chosen; empty: no reason
};

// `now`: the state while no other run holds its lock. Nothing changes while a chosen node is not ready or its
// steps have not succeeded.
ScaledJobs scaled_jobs(const Project& project, const Snapshot& now);

// Same for the program compiled with the state's nodes.
ScaledJobs scaled_jobs(const ir::Program& before, const ir::Program& after, const Snapshot& now);

}  // namespace radl::driver
