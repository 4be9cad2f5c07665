// The nodes of a training are worked on side by side.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "common/status.h"

namespace radl::training {

// Calls once for each index, all at the same time; the first failure.
inline Status for_all(size_t count, const std::function<Status(size_t)>& call) {
  std::vector<Status> results(count);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { results[i] = call(i); });
  for (auto& thread : threads) thread.join();
  for (auto& result : results) {
    if (!result.ok()) return std::move(result);
  }
  return {};
}

}  // namespace radl::training
