// The folder of the running program.
#pragma once

#include <string>

namespace radl {

// Absolute path, or "" if /proc is not mounted. In a relocatable package, this is the folder of the loader
// that started the program (tools/package); the package's other files lie relative to it as in a normal
// installation.
std::string program_folder();

}  // namespace radl
