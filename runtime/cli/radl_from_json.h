// RADL-JSON as the text of a RADL file.
#pragma once

#include <optional>
#include <string>

#include "compiler/diag/diagnostic.h"

namespace radl::cli {

// As `radlc fmt` lays it out. nullopt: `diagnostics` says why.
std::optional<std::string> radl_from_json(const SourceFile& json, Diagnostics& diagnostics);

}  // namespace radl::cli
