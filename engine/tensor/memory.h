// Asking for memory before it is taken.
#pragma once

#include <cstddef>
#include <string>

#include "common/status.h"

namespace radl::engine {

// Quota, with both numbers, when less than `bytes` is free; `what` is what needs them.
Status check_memory(size_t bytes, const std::string& what);

}  // namespace radl::engine
