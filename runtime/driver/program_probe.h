// A short run of a program of the user's own on nodes that are there, for its time.
#pragma once

#include <functional>
#include <string>

#include "common/stop.h"
#include "runtime/driver/project.h"
#include "runtime/foresight/calibration.h"
#include "runtime/steps/step_runner.h"

namespace radl::driver {

// Makes the program one that is run for at most `seconds`, once, and of which nothing is brought back. Its
// identity stays, so that its time is kept as the program's own.
void make_short_run(ir::Step& program, double seconds, const std::string& results);

struct NodeProbe {
  std::string nodes;  // an address, or a system for all of its nodes
  double seconds = 30;
  Stop stop;
  std::function<void(const StepEvent&)> emit = [](const StepEvent&) {};
};

// Runs it on nodes of the infrastructure and removes what it has left there, also after a failure or a stop.
// If radlc is killed, the nodes end the program. Invalid: it failed, or needs a value that is not known yet.
Result<foresight::ProgramRun> probe_on_nodes(const Host& host, const ProjectOptions& options,
                                             const Project& project, const ir::Step& program,
                                             const NodeProbe& probe);

}  // namespace radl::driver
