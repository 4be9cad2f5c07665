// RADL-JSON, the form that services exchange: converts a document to JSON, and JSON to RADL text.
//
// The JSON equals the reference implementation's byte for byte, with two exceptions: the `id` of a
// description is its name (the reference writes an object's address), and 'random(D)' is kept as written. The
// reference has no form for EC3's values. In part of a cluster, a set is a list and a reference {"class",
// "id", "reference"}. A whole cluster has what EC3 would send: comma-separated texts and names, without
// descriptions. EC3's other blocks are omitted.
#pragma once

#include <optional>
#include <string>

#include "compiler/check/document.h"
#include "compiler/diag/diagnostic.h"

namespace radl::sema {

struct JsonOptions {
  bool fill_random = false;  // replaces 'random(D)' with D random letters and digits
};

std::string to_radl_json(const Document& document, const JsonOptions& options = {});

// Returns equivalent RADL text. nullopt if the JSON is not RADL-JSON; reports every error with its object and
// field.
std::optional<std::string> from_radl_json(const SourceFile& json, Diagnostics& diagnostics);

}  // namespace radl::sema
