// Starts a program that outlives this process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/process/process.h"
#include "common/status.h"

namespace radl {

struct DetachOptions {
  EnvironmentChanges environment;  // added to PATH and LC_ALL=C.UTF-8
  std::string directory;           // "": the current directory
  std::string output_path;         // both streams are appended to it (created with mode 0600); "": /dev/null
  // Called with the process ID before the program runs. If it fails, or this process dies before it returns,
  // the program never runs. So no program runs without a record.
  std::function<Status(int process)> before_start;
  bool adopt_orphans = false;  // the program, not init, becomes parent of its descendants' orphans
};

// Starts argv[0] (a path, or a name in PATH or the sbin folders) in its own session, without waiting for it.
// `environment` supplies the user's PATH. Returns the process ID. NotFound: the program does not exist.
Result<int> start_detached(const Environment& environment, const std::vector<std::string>& argv,
                           const DetachOptions& options);

}  // namespace radl
