// Wraps the lines of a plan to a terminal's width without breaking its columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace radl {

// Breaks lines wider than `width` at spaces, and indents the rest to the text of the first column ("  >
// worker[0]  package 'htop'": below `package`). Lines of a diff (indented by ten or more) and words wider
// than the terminal are not broken. Escape sequences (`ESC [ ... m`) have no width; a UTF-8 character counts
// as one column. `width` 0: returns the text unchanged.
std::string wrap_columns(std::string_view text, size_t width);

}  // namespace radl
