// The file that a download goes into until it is whole, held by one process at a time.
#pragma once

#include <functional>
#include <string>

#include "common/status.h"

namespace radl::transfer {

// Opens (or makes) `path` and locks it; the descriptor is the caller's. The file is the one of this name once
// the lock is held: one that another process has finished and renamed between the two is let go. Conflict:
// another process holds it. `between`: for tests, called after each opening and before the lock.
Result<int> open_part(const std::string& path, const std::function<void()>& between = {});

}  // namespace radl::transfer
