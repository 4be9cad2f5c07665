// Writes a file that the user named (`-o FILE`).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// What a command may do to an existing file.
struct OutputRules {
  // Recognizes the content of a file that the same kind of command wrote earlier and that users do not edit.
  // Such a file may be replaced. If null, no file is recognized.
  std::function<bool(std::string_view old)> ours;
  bool force = false;        // replaces any file
  unsigned new_mode = 0666;  // for a new file, less the umask
};

// Exists: `path` is a regular file that is not empty, differs from `content`, is not `ours`, and `force` is
// off. Devices, pipes and open files (/dev/stdout) are always allowed.
Status may_write_output(const std::string& path, std::string_view content, const OutputRules& rules);

// Replaces a regular file like write_file_atomic, keeping mode and owner. Follows a link and writes its
// target. Writes devices, pipes and hard-linked files in place. Errors include those of
// may_write_output.
Status write_output_file(const std::string& path, std::string_view content, const OutputRules& rules);

}  // namespace radl
