// Runs another program to its end and keeps what it said.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"

namespace radl {

struct CommandResult {
  int exit_status = 0;   // 128 + signal when it was killed
  std::string out, err;  // the last 64 KiB of each
};

// argv[0] is looked up in PATH. NotFound when there is no such program; Timeout and Cancelled after it and
// everything in its process group was ended.
Result<CommandResult> run_command(const std::vector<std::string>& argv, const std::string& folder,
                                  double seconds, const Stop& stop = {});

}  // namespace radl
