// Reading what a program is made of.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

// read_file() for a file that may be read again at any time: a pipe with a name has its content once, and
// reading one that nobody writes to never ends, so it is refused. Pipes that the shell opens (/dev/stdin,
// `<(..)`) are read.
Result<std::string> read_source_file(const std::string& path, size_t limit);

}  // namespace radl
