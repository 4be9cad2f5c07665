// Makes text of a user's file safe to show on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace radl {

// A line with tabs expanded, and the columns of the bytes [from, to). Wide characters take two columns,
// combining ones none. Control characters and those that change the writing direction are replaced. Lines
// over 160 columns are cut to a window around `from`.
struct ShownLine {
  std::string text;
  size_t from = 0, to = 0;
};
ShownLine show_line(std::string_view line, size_t from, size_t to, int tab_width);

// Text of the file inside a message: replaces the same characters but keeps line ends and tabs.
std::string printable(std::string_view text);

// Shortens a message, which may quote megabytes of a file: cuts the middle beyond 1000 bytes.
std::string shortened(std::string text);

}  // namespace radl
