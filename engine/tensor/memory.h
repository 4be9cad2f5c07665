// Checks for free memory before allocation.
#pragma once

#include <cstddef>
#include <string>

#include "common/status.h"

namespace radl::engine {

// Quota, with both numbers, if less than `bytes` is free; `what` names the purpose.
Status check_memory(size_t bytes, const std::string& what);

}  // namespace radl::engine
