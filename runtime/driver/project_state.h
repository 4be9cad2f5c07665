// Where the state is that a command means: from FILE, --state, --name and the environment.
#pragma once

#include <string>

#include "common/stop.h"
#include "compiler/ir/ir.h"
#include "runtime/driver/project.h"

namespace radl::driver {

// Where the states are that a command without compilation means: as ProjectOptions::state says. Invalid: the
// file's option holds more than a string.
Result<std::string> state_directory(const Host& host, const ProjectOptions& options);
// The same for a compiled program, whose option is a value by now.
Result<std::string> state_of_program(const Host& host, const ProjectOptions& options,
                                     const ir::Program& program, const std::string& file);
// PLACE of a command line as a place that does not depend on the host's folder.
std::string state_place(const Host& host, const std::string& words);

struct StatePlace {
  std::string directory;
  std::string name;
};
// Which infrastructure a command without compilation means: --name, else the one that was applied from the
// given file, else the only one, else the one applied from the only file of this folder. NotFound and Invalid
// list what there is.
Result<StatePlace> find_state(const Host& host, const ProjectOptions& options, const Stop& stop = {});

// The only .radl file of a folder. Invalid lists several; NotFound: there is none.
Result<std::string> only_file_in(const std::string& folder);

}  // namespace radl::driver
