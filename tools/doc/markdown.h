// Markdown helpers shared by the pages.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// A string for a table cell: one line, with `|` escaped.
inline std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|')
      out += "\\|";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  return out;
}

}  // namespace radl
