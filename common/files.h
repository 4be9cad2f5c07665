// Whole-file reading and crash-safe writing.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// Reads a file. NotFound, Invalid (a folder, or no permission) or Quota (larger than `limit` bytes).
Result<std::string> read_file(const std::string& path, size_t limit = size_t{1} << 32);

// Writes a temporary file beside `path`, syncs it and its folder, and renames it. After a crash, the file has
// either the old or the new content, never a part. `mode` is set before the first byte is written.
Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode = 0644);

// Writes all bytes, continuing after interrupts. On failure, returns errno's status for `what`; part of the
// bytes may have been written.
Status write_all(int descriptor, std::string_view bytes, std::string_view what);

// Like mkdir -p. Created folders get `mode`.
Status make_directories(const std::string& path, unsigned mode = 0755);

// Maps errno to a Status (ENOSPC and EDQUOT: Quota; ENOENT: NotFound).
Status errno_status(int error, std::string_view what);

}  // namespace radl
