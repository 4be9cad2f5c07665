// Writing a file that a user has named (`-o FILE`).
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// A regular file is replaced as by write_file_atomic and keeps its mode and owner; a link stays, and its
// target is written; a device, a pipe and a file with several names are written where they are. A new file
// gets `new_mode` less the umask.
Status write_output_file(const std::string& path, std::string_view content, unsigned new_mode = 0666);

}  // namespace radl
