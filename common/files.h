// Whole-file reading and crash-safe writing.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// The file's content; NotFound, Invalid (a folder, no permission) or Quota (larger than limit bytes).
Result<std::string> read_file(const std::string& path, size_t limit = size_t{1} << 32);

// Writes a temporary file beside `path`, syncs it and its folder, and renames it: a crash leaves either the
// old content or the new, never a part. `mode` is set before the first byte is written.
Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode = 0644);

// Writes all of it, whatever interrupts. What errno says of `what` otherwise; then a part may have been
// written.
Status write_all(int descriptor, std::string_view bytes, std::string_view what);

// mkdir -p; folders made here get `mode`.
Status make_directories(const std::string& path, unsigned mode = 0755);

// What errno says, as a Status with a fitting code (ENOSPC and EDQUOT are Quota, ENOENT is NotFound).
Status errno_status(int error, std::string_view what);

}  // namespace radl
