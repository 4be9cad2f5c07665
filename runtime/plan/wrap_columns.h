// Wraps the lines of a plan to the width of a terminal, so that columns stay columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace radl {

// Breaks each line that is wider than `width` at spaces. The rest of the line is indented to the text of its
// first column ("  > worker[0]  package 'htop'": below `package`). Lines of a diff, which are indented by ten
// or more, and words wider than the terminal stay whole. Escape sequences (`ESC [ ... m`) have no width; a
// UTF-8 character counts as one column. `width` 0: the text as it is.
std::string wrap_columns(std::string_view text, size_t width);

}  // namespace radl
