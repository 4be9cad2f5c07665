// Markdown helpers shared by the pages.
#pragma once

#include <string>
#include <string_view>

#include "common/replaced.h"

namespace radl {

// A string for a table cell: one line, with `|` escaped.
inline std::string cell(std::string_view text) {
  return replaced(replaced(std::string(text), "|", "\\|"), "\n", " ");
}

}  // namespace radl
