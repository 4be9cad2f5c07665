// What a change of a spec takes, said by tables of its fields.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

// A field that is fixed when the resource is made, and why.
struct FixedField {
  const char *field, *why;
};

// Whether a field of two specs differs.
bool differs(const Json& before, const Json& after, const char* field);
Impact replace(std::string why);
// Replace for the first of the fields that differs; nullopt: none does.
std::optional<Impact> replaced_for(std::span<const FixedField> fields, const Json& before, const Json& after);

}  // namespace radl
