// What completes a value on the command line: names from the files and states of this computer. Nothing is
// asked over a network, and what cannot be read offers nothing.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/command.h"

namespace radl::cli {

// `kind`: input, node or region. `words`: the command line up to the word that is completed, with its
// FILEs; without one the only .radl file of this folder counts. `current`: the beginning of the word, for
// values of an input ("model=res").
std::vector<std::string> completion_values(const Host& host, const std::string& kind,
                                           const std::vector<std::string>& words, const std::string& current);

}  // namespace radl::cli
