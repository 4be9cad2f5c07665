// Text that comes from elsewhere (nodes, files, clouds) as a terminal may be given it.
#pragma once

#include <string>
#include <string_view>

#include "runtime/driver/shell_word.h"

namespace radl::cli {

// Without what could drive the terminal: escape sequences are left out, other control characters and those
// that turn the direction of writing are replaced; line ends and tabs stay. With `color`, sequences that do
// nothing but set colours stay, and a text that uses some ends in the default colour.
std::string shown(std::string_view text, bool color = false);

}  // namespace radl::cli
