// Reads user input: text files of any editor, and values of environment variables.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// Returns the text without a leading UTF-8 byte order mark.
std::string_view without_mark(std::string_view text);

// Reads a text file without its byte order mark. Invalid: it is UTF-16, as PowerShell's `>` writes. Other
// errors as for read_file().
Result<std::string> read_user_text(const std::string& path, size_t limit);

// Auth, naming the variable, if its value contains a line break or another control character.
Status check_one_line(std::string_view variable, std::string_view value);

}  // namespace radl
