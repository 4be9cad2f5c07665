// Concurrent work on a job's nodes.
#pragma once

#include <functional>
#include <vector>

#include "common/guarded.h"

namespace radl::jobs {

// Calls once per index, all concurrently. Returns the first failure; exceptions count as failures.
inline Status for_all(size_t count, const std::function<Status(size_t)>& call) {
  std::vector<Status> results(count);
  {
    Threads threads;
    for (size_t i = 0; i < count; ++i) {
      Status started = threads.start([&, i] { results[i] = guarded([&] { return call(i); }); });
      if (!started.ok()) results[i] = std::move(started);
    }
  }
  for (auto& result : results) {
    if (!result.ok()) return std::move(result);
  }
  return {};
}

}  // namespace radl::jobs
