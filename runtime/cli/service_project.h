// A project prepared for a service: compiled locally, so that findings and questions appear as usual, with
// every local file that the compilation read or that the program names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/driver/project.h"
#include "runtime/state/snapshot.h"

namespace radl::cli {

struct ServiceProject {
  std::vector<std::string> files, module_path;  // as the service names them, relative to its upload folder
  std::map<std::string, std::string> uploads;   // the service's name -> local file
  std::vector<std::string> folders;             // folders of the project, by the service's names
  std::map<std::string, std::string> sources;   // local name -> SHA-256 of the compiled source
  Json inputs = Json::object();                 // from options, files, the environment and questions
};

// Compiles the project and prints findings on standard error. Invalid, with an empty message after findings.
// Also Invalid if the program names a file by an absolute path.
Result<ServiceProject> project_for_service(const Session& session, const ProjectOptions& options);

// Conflict: the service compiled a file that differs from the local one, for example by an absolute path.
Status same_sources(const ServiceProject& project, const Json& plan);

// The infrastructure's name on a service: --name, else the file's name.
Result<std::string> name_on_service(const ProjectOptions& options);

}  // namespace radl::cli
