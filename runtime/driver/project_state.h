// Finds the state that a command refers to: from FILE, --state, --name and the environment.
#pragma once

#include <string>

#include "common/stop.h"
#include "compiler/ir/ir.h"
#include "runtime/driver/project.h"

namespace radl::driver {

// The place of the states for a command that does not compile, by ProjectOptions::state. Invalid: the file's
// option is more than a string.
Result<std::string> state_directory(const Host& host, const ProjectOptions& options);
// Same for a compiled program, whose option has been evaluated.
Result<std::string> state_of_program(const Host& host, const ProjectOptions& options,
                                     const ir::Program& program, const std::string& file);
// Converts PLACE of a command line to a place that is independent of the host's folder.
std::string state_place(const Host& host, const std::string& words);

struct StatePlace {
  std::string directory;
  std::string name;
};
// The infrastructure for a command that does not compile: --name, else the one applied from the given file,
// else the only one, else the one applied from the only file of this folder. NotFound and Invalid list the
// existing ones.
Result<StatePlace> find_state(const Host& host, const ProjectOptions& options, const Stop& stop = {});

// The only .radl file of a folder. Invalid lists several. NotFound: none.
Result<std::string> only_file_in(const std::string& folder);

}  // namespace radl::driver
