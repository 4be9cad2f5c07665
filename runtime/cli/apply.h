// The options and the implementation of apply. `scale` and `autoscale` are applies that choose nodes.
#pragma once

#include <functional>
#include <optional>

#include "runtime/cli/command.h"
#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"
#include "runtime/cli/workflow.h"

namespace radl::cli {

namespace apply_command {
struct Options {
  ProjectOptions project;
  RunOptions run;
  PlanRequest request;
  std::optional<ScaleRequest> scale;  // leaves jobs untouched
  bool detach = false;
  bool keep = false;  // nodes of elastic farms
  std::string job;    // for `wait`
};
// Plans, shows, confirms, executes and reports. Returns the exit status.
int run(const Session& session, Options& options);
}  // namespace apply_command

namespace wait_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace scale_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace autoscale_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace submit_command {
std::function<int()> add(CLI::App& app, Session& session);
}

}  // namespace radl::cli
