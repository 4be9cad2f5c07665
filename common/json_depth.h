// How deep a text of JSON is nested, before anything parses it: copying and freeing what was parsed recurses.
#pragma once

#include <string_view>

namespace radl {

// Lists and objects within each other, at most. Of a text that is not JSON: any number.
int json_depth(std::string_view text);

}  // namespace radl
