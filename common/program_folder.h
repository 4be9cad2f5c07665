// The folder of the running program.
#pragma once

#include <string>

namespace radl {

// Absolute, or "" if /proc is not mounted. In a relocatable package this is the folder of the loader that
// started the program (tools/package), from which the package's other files have the places of a usual
// installation.
std::string program_folder();

}  // namespace radl
