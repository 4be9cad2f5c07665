#include <algorithm>
#include <cctype>

#include "compiler/diag/diagnostic.h"

namespace radl {

const std::vector<CodeInfo>& all_codes() {
  static const std::vector<CodeInfo> table = {
#define RADL_DIAGNOSTIC(name, id, severity, phase, title, explanation) \
  {DiagCode::name, #name, id, Severity::severity, Phase::phase, title, explanation},
#include "compiler/diag/codes.def"
#undef RADL_DIAGNOSTIC
  };
  return table;
}

const CodeInfo& code_info(DiagCode code) { return all_codes()[static_cast<size_t>(code)]; }

const CodeInfo* find_code(std::string_view id) {
  auto same = [&](std::string_view other) {
    return std::equal(id.begin(), id.end(), other.begin(), other.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
  };
  for (const CodeInfo& info : all_codes())
    if (same(info.id) || same(info.name)) return &info;
  return nullptr;
}

}  // namespace radl
