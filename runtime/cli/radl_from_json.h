// Converts RADL-JSON to the text of a RADL file.
#pragma once

#include <optional>
#include <string>

#include "compiler/diag/diagnostic.h"

namespace radl::cli {

// Formatted like `radlc fmt`. nullopt: `diagnostics` has the reason.
std::optional<std::string> radl_from_json(const SourceFile& json, Diagnostics& diagnostics);

}  // namespace radl::cli
