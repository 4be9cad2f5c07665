// Paths as a user would write them.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The path without `./`, `a/../` and doubled slashes, where it still names the same file then: behind a
// linked folder `..` is the folder above the link's target.
std::string tidy_path(const std::string& path);

// Whether a part of it is "..".
bool goes_up(std::string_view path);

}  // namespace radl
