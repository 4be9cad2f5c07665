// Cached digests of local files. Unchanged files are not read again.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

// SHA-256 of a local file, cached by size, inode and times.
Result<std::string> local_digest(const std::string& path);
// Caches the digest of a file that was just written.
void remember_digest(const std::string& path, const std::string& digest);

}  // namespace radl
