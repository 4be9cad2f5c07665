// What the commands that import resources have in common: the file's project and its locked state.
#pragma once

#include <memory>

#include "runtime/cli/workflow.h"

namespace radl::cli {

struct ImportRun {
  std::unique_ptr<Project> project;
  std::unique_ptr<Machinery> machinery;
  std::unique_ptr<Store> store;  // locked
  Cancellation cancellation;
  Run run;  // of these

  // Invalid with an empty message: the findings of the file are printed.
  static Result<std::unique_ptr<ImportRun>> open(const Session& session, const ProjectOptions& project,
                                                 const RunOptions& options, const char* command);
};

}  // namespace radl::cli
