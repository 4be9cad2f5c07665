// Normalizes paths for display.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// Removes `./`, `a/../` and doubled slashes if the path then still names the same file: after a linked
// folder, `..` is the parent of the link's target.
std::string tidy_path(const std::string& path);

// True if a part of the path is "..".
bool goes_up(std::string_view path);

}  // namespace radl
