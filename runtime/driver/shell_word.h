// Words of command lines in messages, for people to copy.
#pragma once

#include <string>
#include <string_view>

namespace radl::driver {

// Quotes one word of a displayed command line if necessary.
std::string shell_word(std::string_view text);

}  // namespace radl::driver
