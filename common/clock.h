// Monotonic time for durations: never set back.
#pragma once

#include <time.h>

#include <chrono>

namespace radl {

using SteadyClock = std::chrono::steady_clock;

inline double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// CPU seconds used so far by the calling thread (CLOCK_THREAD_CPUTIME_ID) or the process
// (CLOCK_PROCESS_CPUTIME_ID).
inline double processor_seconds(clockid_t clock) {
  struct timespec t {};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace radl
