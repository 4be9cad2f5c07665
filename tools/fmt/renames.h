// `radlc fmt --upgrade`: inputs and outputs of the standard library, and properties, that have another name
// now.
#pragma once

#include <string>

#include "compiler/source/source.h"

namespace radl::formatter {

// The text of a `radl 2` file with the present names (compiler/syntax/renamed.h). Any other text, and one
// with syntax errors, stays.
std::string with_present_names(const SourceFile& source);

}  // namespace radl::formatter
