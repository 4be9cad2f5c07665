// Measures a user program by a short run on existing nodes.
#pragma once

#include <functional>
#include <string>

#include "common/stop.h"
#include "runtime/driver/project.h"
#include "runtime/foresight/calibration.h"
#include "runtime/steps/step_runner.h"

namespace radl::driver {

// Limits the program to a single run of at most `seconds` without fetching results. Keeps its identity, so
// that its duration is recorded for the program itself.
void make_short_run(ir::Step& program, double seconds, const std::string& results);

struct NodeProbe {
  std::string nodes;  // an address, or a system for all its nodes
  double seconds = 30;
  Stop stop;
  std::function<void(const StepEvent&)> emit = [](const StepEvent&) {};
};

// Runs it on nodes of the infrastructure and removes its files there, also after a failure or a stop. If
// radlc is killed, the nodes end the program. Invalid: it failed, or needs a value that is not known yet.
Result<foresight::ProgramRun> probe_on_nodes(const Host& host, const ProjectOptions& options,
                                             const Project& project, const ir::Step& program,
                                             const NodeProbe& probe);

}  // namespace radl::driver
