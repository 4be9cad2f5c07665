// Ctrl-C once: finish what is in flight and save. Twice: stop now.
#pragma once

#include <atomic>

namespace radl {

class Cancellation {
 public:
  // Safe in a signal handler.
  void request() { level_.fetch_add(1, std::memory_order_relaxed); }
  int level() const { return level_.load(std::memory_order_relaxed); }
  bool stop_starting() const { return level() >= 1; }
  bool stop_now() const { return level() >= 2; }

 private:
  std::atomic<int> level_{0};
  static_assert(std::atomic<int>::is_always_lock_free);
};

}  // namespace radl
