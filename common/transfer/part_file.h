// The partial file of a download, locked by one process at a time.
#pragma once

#include <functional>
#include <string>

#include "common/status.h"

namespace radl::transfer {

// Opens or creates `path` and locks it; the caller owns the descriptor. If another process finishes and
// renames the file before the lock is held, opens the path again. Conflict: another process holds the lock.
// `between`: for tests, called after each opening and before the lock.
Result<int> open_part(const std::string& path, const std::function<void()>& between = {});

}  // namespace radl::transfer
