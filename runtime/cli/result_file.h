// Where a command's result goes: a file that the user names, or standard output.
#pragma once

#include <string>
#include <string_view>

#include "runtime/cli/command.h"

namespace radl::cli {

// Whether `-o FILE` means standard output: it was not given, or is "-".
inline bool to_standard_output(const std::string& file) { return file.empty() || file == "-"; }

// Writes it there; the exit code.
int put_result(const Session& session, std::string_view text, const std::string& file);

// For an option whose file is read again later, or that goes beside what is shown: "-" is no such file.
Status needs_file(const std::string& file, std::string_view option);

}  // namespace radl::cli
