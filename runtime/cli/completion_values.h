// Completes values on the command line with names from local files and states. Uses no network, and offers
// nothing from unreadable files.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/command.h"

namespace radl::cli {

// `kind`: input, node or region. `words`: the command line before the completed word, with its FILEs; without
// any, the only .radl file of the current folder. `current`: the start of the word; for values of an input
// "model=res".
std::vector<std::string> completion_values(const Host& host, const std::string& kind,
                                           const std::vector<std::string>& words, const std::string& current);

}  // namespace radl::cli
