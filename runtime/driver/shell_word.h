// Words of command lines that messages give people to copy.
#pragma once

#include <string>
#include <string_view>

namespace radl::driver {

// One word of a command line for people to read and copy, quoted if it needs to be.
std::string shell_word(std::string_view text);

}  // namespace radl::driver
