// Exceptions as values: what work on a thread throws must not end the program.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "common/status.h"

namespace radl {

// In a catch block: what was thrown. Quota for memory and for threads that cannot be had, else Internal.
Status status_of_exception() noexcept;

// The call's own Status, or what it threw.
template <class Call>
Status guarded(Call&& call) {
  try {
    return call();
  } catch (...) {
    return status_of_exception();
  }
}

// Threads that are joined when this goes, however it goes.
class Threads {
 public:
  Threads() = default;
  ~Threads() { join(); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  // Quota where this machine gives no more threads, or no memory for one. `work` must not throw.
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

// Calls work(0) .. work(count - 1) on this thread and up to `width` - 1 others (fewer where no more can be
// had). The status of the first index that failed or threw; the others are called all the same.
Status for_each_parallel(size_t count, size_t width, const std::function<Status(size_t)>& work);

}  // namespace radl
