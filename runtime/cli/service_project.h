// A project as a service takes it: compiled here, so that findings and questions appear as without a service,
// and every file of this computer that the compilation read or names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/driver/project.h"
#include "runtime/state/snapshot.h"

namespace radl::cli {

struct ServiceProject {
  std::vector<std::string> files, module_path;  // as the service names them: below the folder of its uploads
  std::map<std::string, std::string> uploads;   // by the service's name, the file here
  std::vector<std::string> folders;  // whose files are all of the project, as the service names them
  std::map<std::string, std::string> sources;  // SHA-256 of what was compiled, by its name here
  Json inputs = Json::object();                // from options, files, the environment and questions
};

// Compiles it and prints the findings on standard error. Invalid, with an empty message after findings: also
// a file that the program names by an absolute path.
Result<ServiceProject> project_for_service(const Session& session, const ProjectOptions& options);

// Conflict: the service compiled another file than this computer has, for example one with an absolute path.
Status same_sources(const ServiceProject& project, const Json& plan);

// The infrastructure's name on a service: --name, or else the file's name.
Result<std::string> name_on_service(const ProjectOptions& options);

}  // namespace radl::cli
