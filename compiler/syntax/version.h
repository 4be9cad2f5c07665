#pragma once

#include <string_view>

namespace radl {

// True if the file begins, after spaces and comments, with `radl` and a number, which enables the extensions.
bool begins_with_version(std::string_view text);

}  // namespace radl
