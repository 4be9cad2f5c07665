// Base of the commands that import resources: the file's project and its locked state.
#pragma once

#include <memory>

#include "runtime/cli/workflow.h"

namespace radl::cli {

struct ImportRun {
  std::unique_ptr<Project> project;
  std::unique_ptr<Machinery> machinery;
  std::unique_ptr<Store> store;  // locked
  Cancellation cancellation;
  Run run;  // uses the members above

  // Invalid with an empty message: the file's findings have been printed.
  static Result<std::unique_ptr<ImportRun>> open(const Session& session, const ProjectOptions& project,
                                                 const RunOptions& options, const char* command);
};

}  // namespace radl::cli
