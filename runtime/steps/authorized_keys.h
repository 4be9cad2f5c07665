// Temporary lines of radlc in a login's ~/.ssh/authorized_keys.
#pragma once

#include <string>

namespace radl {

// Shell text that removes lines ending in " radlc-MARK", including those of killed runs,
// and appends the line `added`, if any. `stale`: a sed command that removes other lines.
// Safe for concurrent runs and power loss: it locks the folder and replaces the file
// atomically.
std::string edit_authorized_keys(const std::string& mark, const std::string& added,
                                 const std::string& stale = "");

}  // namespace radl
