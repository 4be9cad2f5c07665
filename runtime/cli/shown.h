// Makes text from outside (nodes, files, clouds) safe for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "runtime/driver/shell_word.h"

namespace radl::cli {

// Removes escape sequences and replaces other control characters and those that change the writing direction;
// keeps line ends and tabs. With `color`, keeps sequences that only set colors, and resets the color at the
// end.
std::string shown(std::string_view text, bool color = false);

}  // namespace radl::cli
