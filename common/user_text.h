// What people write: text files of any editor, and values of environment variables.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// The text without a UTF-8 byte order mark at its beginning.
std::string_view without_mark(std::string_view text);

// A text file without its byte order mark. Invalid: it is in UTF-16, as PowerShell's `>` writes it. Else as
// read_file().
Result<std::string> read_user_text(const std::string& path, size_t limit);

// Auth, which names the variable: its value has a line break or another control character in it.
Status check_one_line(std::string_view variable, std::string_view value);

}  // namespace radl
