// Files of radlc that belong to the user and to no project.
#pragma once

#include <string>

namespace radl::driver {

// $XDG_STATE_HOME/radlc/NAME, or ~/.local/state/radlc/NAME; "" where there is no home.
std::string user_file(const std::string& name);
// Of all infrastructures (runtime/state/index.h).
std::string infrastructures_index();
// $XDG_DATA_HOME/radlc/NAME, or ~/.local/share/radlc/NAME; "" where there is no home.
std::string user_data_file(const std::string& name);
// Of `radlc catalog update`: newer prices than those that radlc was built with.
std::string user_catalog_file(const std::string& cloud);

}  // namespace radl::driver
