// Converts exceptions to values, so that an exception on a thread cannot end the program.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "common/status.h"

namespace radl {

// Call in a catch block. Converts the exception: Quota if memory or threads are exhausted, else Internal.
Status status_of_exception() noexcept;

// Returns the call's own Status, or the converted exception.
template <class Call>
Status guarded(Call&& call) {
  try {
    return call();
  } catch (...) {
    return status_of_exception();
  }
}

// Joins its threads on destruction.
class Threads {
 public:
  Threads() = default;
  ~Threads() { join(); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  // Quota if the system has no thread or memory left. `work` must not throw.
  template <class Work>
  Status start(Work&& work) {
    return guarded([&]() -> Status {
      threads_.reserve(threads_.size() + 1);
      threads_.emplace_back(std::forward<Work>(work));
      return {};
    });
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

// Calls work(0) .. work(count - 1) on this thread and up to `width` - 1 others (fewer if the system has no
// more). Calls every index even after a failure; returns the status of the lowest index that failed or threw.
Status for_each_parallel(size_t count, size_t width, const std::function<Status(size_t)>& work);

}  // namespace radl
