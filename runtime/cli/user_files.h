// Files of radlc that belong to the user and to no project.
#pragma once

#include <string>

namespace radl::cli {

// $XDG_STATE_HOME/radlc/NAME, or ~/.local/state/radlc/NAME; "" where there is no home.
std::string user_file(const std::string& name);
// Of all infrastructures (runtime/state/index.h).
std::string infrastructures_index();

}  // namespace radl::cli
