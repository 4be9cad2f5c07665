#pragma once

#include <string_view>

namespace radl {

// The first words of the file, after spaces and comments, are `radl` and a number: the extensions are on.
bool begins_with_version(std::string_view text);

}  // namespace radl
