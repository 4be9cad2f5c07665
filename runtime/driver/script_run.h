// Runs one script on a node that has room, without a change of the file (docs/farm.md).
#pragma once

#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/notice.h"
#include "runtime/driver/project.h"

namespace radl::driver {

struct ScriptRequest {
  std::string script;  // Python (.py) or shell
  std::vector<std::string> arguments;
  std::string on;       // a node or system; "": every node
  std::string results;  // folder for its results; "": NAME-results
  double cpu = 1;
  int gpu = 0;
};

struct ScriptEnd {
  std::string output;
  bool succeeded = false;
  int exit_status = 0;  // not above 0 if the script did not end by itself
};

// Brings the results as well. The same script with the same arguments is the same job: one that was
// interrupted is joined. Relative paths begin in the host's folder. Lost: the script may still run on a node
// that cannot be reached.
Result<ScriptEnd> run_script(const Host& host, const ProjectOptions& project, const ScriptRequest& request,
                             const Stop& stop, const Tell& tell);

}  // namespace radl::driver
