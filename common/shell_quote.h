// Quotes text as one word of a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// Uses single quotes; a quote inside becomes '\''.
std::string shell_quote(std::string_view text);

}  // namespace radl
