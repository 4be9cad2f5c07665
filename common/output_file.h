// Writing a file that a user has named (`-o FILE`).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// What a command may do to a file that already has the name.
struct OutputRules {
  // Recognizes by its bytes a file that the same kind of command wrote earlier, and that nobody edits by
  // hand: it may be replaced. Null: no file is recognized.
  std::function<bool(std::string_view old)> ours;
  bool force = false;        // replaces any file
  unsigned new_mode = 0666;  // of a new file, less the umask
};

// Exists: `path` is a regular file that is not empty, differs from `content`, is not `ours`, and `force` is
// off. Devices, pipes and open files (/dev/stdout) are never refused.
Status may_write_output(const std::string& path, std::string_view content, const OutputRules& rules);

// A regular file is replaced as by write_file_atomic and keeps its mode and owner; a link stays, and its
// target is written; a device, a pipe and a file with several names are written in place. Errors: also those
// of may_write_output.
Status write_output_file(const std::string& path, std::string_view content, const OutputRules& rules);

}  // namespace radl
