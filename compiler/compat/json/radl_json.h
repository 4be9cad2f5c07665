// RADL-JSON, the form that services exchange: a document to JSON, and JSON back to RADL text.
//
// The JSON equals the reference implementation's, byte for byte, with two exceptions: the `id` of a
// description is its name (the reference writes an object's address), and 'random(D)' stands as it is
// written. EC3's values, which the reference has no form for: in a part of a cluster a set is a list and a
// reference {"class", "id", "reference"}; a cluster has what EC3 would send, texts with commas and names, and
// no descriptions. EC3's other blocks are left out.
#pragma once

#include <optional>
#include <string>

#include "compiler/check/document.h"
#include "compiler/diag/diagnostic.h"

namespace radl::sema {

struct JsonOptions {
  bool fill_random = false;  // 'random(D)' becomes D random letters and digits
};

std::string to_radl_json(const Document& document, const JsonOptions& options = {});

// RADL text that means the same; nullopt when the JSON is no RADL-JSON: what is wrong is reported, all of it,
// with the object and the field by name.
std::optional<std::string> from_radl_json(const SourceFile& json, Diagnostics& diagnostics);

}  // namespace radl::sema
