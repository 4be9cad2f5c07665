// Text as one word of a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// In single quotes; a quote in it becomes '\''.
std::string shell_quote(std::string_view text);

}  // namespace radl
