// Converts a document's features to IR requirements: base units, secrets by name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/check/features.h"
#include "compiler/passes/build.h"

namespace radl::passes {

// `place`: prefix for the names of secrets, "worker" or "network.lan". Choice words get the spelling of the
// feature table, whatever their case in the file, except those that the reference checks, which stay as
// written.
std::map<std::string, ir::Requirement> requirements_of(Build& build, sema::Scope scope,
                                                       const sema::FeatureSet& features,
                                                       const std::string& place);

// Converts a value to JSON: numbers in base units, secrets (by feature or by origin) as {"$secret":
// ..}.
ir::Json value_json(Build& build, const hir::Value& value, std::string_view feature,
                    const std::string& place);

// True if the feature of this name, or a part of it, holds a password or private key.
bool is_secret_feature(std::string_view name);

}  // namespace radl::passes
