// The options of a destroy, and the complete command.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"

namespace radl::cli::destroy_command {

struct Options {
  ProjectOptions project;
  RunOptions run;
  std::vector<std::string> targets;
  std::vector<std::string> unused_inputs;
  std::vector<std::string> also;  // ids of what is not this state's, and is to go all the same
  std::string from_cloud;         // the tag of an infrastructure whose state was lost
};
// Plan, show, ask, do, report; the exit status.
int run(const Session& session, const Options& options);

}  // namespace radl::cli::destroy_command
