// Starts a program that outlives us.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/process/process.h"
#include "common/status.h"

namespace radl {

struct DetachOptions {
  EnvironmentChanges environment;  // all that it gets besides PATH and LC_ALL=C.UTF-8
  std::string directory;           // empty: as here
  std::string output_path;         // both streams are appended to it (made with mode 0600); empty: /dev/null
  // Told the process id before the program runs in it. The program never runs when this fails, or when we die
  // before it has returned: so nothing runs that nobody has recorded.
  std::function<Status(int process)> before_start;
  bool adopt_orphans = false;  // what the program's descendants leave behind becomes its child, not init's
};

// `environment`: of the user, for PATH. Starts argv[0] (a path, or a name in PATH or the sbin folders) in a
// session of its own; nobody waits for it. Its process id; NotFound when there is no such program.
Result<int> start_detached(const Environment& environment, const std::vector<std::string>& argv,
                           const DetachOptions& options);

}  // namespace radl
