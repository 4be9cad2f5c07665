// Decides whether an apply that supervises trainings gives them the nodes that `radlc scale` has chosen
// meanwhile. Pure, but for the compiler, which reads the project's files.
#pragma once

#include <string>

#include "runtime/driver/project.h"

namespace radl::driver {

struct ScaledJobs {
  bool changes = false;  // trainings that run get other workers, and nothing else does
  std::string refused;   // why they do not, although nodes were chosen for them; empty: no reason
};

// `now`: the state while no other run holds its lock. If a node that was chosen is not ready yet, or its
// steps have not succeeded, nothing changes.
ScaledJobs scaled_jobs(const Project& project, const Snapshot& now);

// The same for the program as it would be compiled with the state's nodes.
ScaledJobs scaled_jobs(const ir::Program& before, const ir::Program& after, const Snapshot& now);

}  // namespace radl::driver
