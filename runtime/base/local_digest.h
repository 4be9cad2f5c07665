// Digests of this computer's files, without reading again what has not changed.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

// SHA-256 of a local file, remembered while its size, inode and times stay as they were.
Result<std::string> local_digest(const std::string& path);
// This file, just written by us, has this digest.
void remember_digest(const std::string& path, const std::string& digest);

}  // namespace radl
