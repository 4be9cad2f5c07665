// Runs the pieces of one transfer concurrently.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "common/guarded.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::transfer {

// Calls work(i, stop) for 0 .. count - 1 on this thread and up to `width` - 1 others (fewer if the system has
// no more). The first error or exception stops the others through their `stop` and is returned.
template <class Work>
Status side_by_side(size_t count, size_t width, const Stop& stop, Work&& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  StopSource failed;
  const Stop either = stop.or_when(failed.token());
  Status first;
  auto run = [&] {
    for (size_t i; (i = next++) < count;) {
      Status s = guarded([&] { return work(i, either); });
      if (s.ok()) continue;
      std::lock_guard lock(mutex);
      if (first.ok()) first = s;
      failed.request();
      return;
    }
  };
  Threads threads;
  for (size_t t = 1; t < std::min(width, count); ++t) {
    if (!threads.start(run).ok()) break;
  }
  run();
  threads.join();
  return first;
}

}  // namespace radl::transfer
