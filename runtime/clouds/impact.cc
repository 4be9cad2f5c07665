#include "runtime/clouds/impact.h"

namespace radl {

bool differs(const Json& before, const Json& after, const char* field) {
  return before.value(field, Json()) != after.value(field, Json());
}

Impact replace(std::string why) { return {Impact::Kind::Replace, std::move(why)}; }

std::optional<Impact> replaced_for(std::span<const FixedField> fields, const Json& before,
                                   const Json& after) {
  for (const FixedField& fixed : fields)
    if (differs(before, after, fixed.field)) return replace(fixed.why);
  return std::nullopt;
}

}  // namespace radl
