// Text of a user's file as a terminal shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace radl {

// A line with tabs spread, and the columns in which the bytes [from, to) came to stand. Wide characters take
// two columns, combining ones none. What could drive the terminal or turn the direction of writing is
// replaced. A line of more than 160 columns is cut to a window around `from`.
struct ShownLine {
  std::string text;
  size_t from = 0, to = 0;
};
ShownLine show_line(std::string_view line, size_t from, size_t to, int tab_width);

// Words of the file inside a message: the same replaced, line ends and tabs kept.
std::string printable(std::string_view text);

// A message holds words of the file, and these may be megabytes: beyond 1000 bytes its middle is left out.
std::string shortened(std::string text);

}  // namespace radl
