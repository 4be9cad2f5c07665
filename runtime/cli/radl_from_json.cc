#include "runtime/cli/radl_from_json.h"

#include "compiler/compat/json/radl_json.h"
#include "tools/fmt/format.h"

namespace radl::cli {

std::optional<std::string> radl_from_json(const SourceFile& json, Diagnostics& diagnostics) {
  std::optional<std::string> text = sema::from_radl_json(json, diagnostics);
  if (!text) return text;
  SourceMap made;
  Diagnostics unheard;
  auto formatted = formatter::format(made.add("converted.radl", *text), unheard);
  if (formatted.ok()) return std::move(*formatted);
  diagnostics.report(DiagCode::JsonType, json.whole(), "a name in this document cannot be written in RADL")
      .with_help(
          "a name starts with a letter, followed by letters, digits, `_`, `.` and `-`; a word of the "
          "language cannot be a name");
  return std::nullopt;
}

}  // namespace radl::cli
