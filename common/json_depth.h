// Nesting depth of a JSON text. Check it before parsing, since copying and freeing parsed values recurses.
#pragma once

#include <string_view>

namespace radl {

// Maximum nesting of lists and objects. Any number if the text is not JSON.
int json_depth(std::string_view text);

}  // namespace radl
