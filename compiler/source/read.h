// Reads program files.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

// Like read_file(), for files that may be read again at any time. Rejects named pipes: their content
// exists only once, and reading can block forever. Accepts pipes opened by the shell (/dev/stdin,
// `<(..)`).
Result<std::string> read_source_file(const std::string& path, size_t limit);

}  // namespace radl
