// `radlc fmt --upgrade`: replaces former names of properties and of the standard library's inputs and
// outputs.
#pragma once

#include <string>

#include "compiler/source/source.h"

namespace radl::formatter {

// Returns the text of a `radl 2` file with current names (compiler/syntax/renamed.h). Leaves other texts, and
// texts with syntax errors, unchanged.
std::string with_present_names(const SourceFile& source);

}  // namespace radl::formatter
