// The clock of a run.
#pragma once

#include <chrono>

namespace radl::engine {

using SteadyClock = std::chrono::steady_clock;

inline double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

}  // namespace radl::engine
