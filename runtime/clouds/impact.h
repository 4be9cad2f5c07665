// Table-driven decision of how a changed spec is applied.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

// A field that cannot change after creation, and why.
struct FixedField {
  const char *field, *why;
};

// Whether a field of two specs differs.
bool differs(const Json& before, const Json& after, const char* field);
Impact replace(std::string why);
// Replace for the first differing field; nullopt: none differs.
std::optional<Impact> replaced_for(std::span<const FixedField> fields, const Json& before, const Json& after);

}  // namespace radl
