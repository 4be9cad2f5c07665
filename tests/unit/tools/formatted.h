// What the formatter makes of a text; "error: ..." with all that it found where it leaves it alone.
#pragma once

#include <string>

#include "tools/fmt/format.h"

namespace radl::test {

inline std::string formatted(const std::string& text) {
  Diagnostics diagnostics;
  SourceFile source(1, "test.radl", text);
  auto result = formatter::format(source, diagnostics);
  if (result) return *result;
  std::string why = "error: " + result.status().message();
  for (const Diagnostic& diagnostic : diagnostics.all()) why += "\n" + diagnostic.message;
  return why;
}

}  // namespace radl::test
