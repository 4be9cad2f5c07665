// Features of a document to requirements of the IR: base units, secrets by name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/check/features.h"
#include "compiler/passes/build.h"

namespace radl::passes {

// `place`: "worker" or "network.lan", the beginning of the names of its secrets. A word of a choice is as the
// table of features spells it, whatever its case in the file; those that the reference checks stay as
// written.
std::map<std::string, ir::Requirement> requirements_of(Build& build, sema::Scope scope,
                                                       const sema::FeatureSet& features,
                                                       const std::string& place);

// A value of a document as JSON: numbers in base units. Secrets (of a feature that holds one, or made from
// one) as {"$secret": ..}.
ir::Json value_json(Build& build, const hir::Value& value, std::string_view feature,
                    const std::string& place);

// Whether the feature of this name holds a password or private key, also as a part of it.
bool is_secret_feature(std::string_view name);

}  // namespace radl::passes
