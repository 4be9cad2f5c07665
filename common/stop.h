// A token that says when to stop: on request or at a deadline. Cheap to copy and thread-safe. Every
// operation that can wait (a transfer, an HTTP call, a command on a node, a lock, a boot) takes
// one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "common/status.h"

namespace radl {

namespace stop_parts {
struct Asked;
}

class Stop {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Stop() = default;  // never stops
  // Polls `asked` at every check, and about every 50 ms during sleeps and waits.
  static Stop when(std::function<bool()> asked);

  Stop until(TimePoint deadline) const;  // also stops at the deadline
  Stop within(std::chrono::milliseconds time) const;
  Stop or_when(const Stop& other) const;  // whichever stops first

  bool asked() const;
  TimePoint deadline() const { return deadline_; }
  // Remaining time: not negative, and at most a day, so that it can be added to a time.
  std::chrono::milliseconds left() const;
  // Ok while there is time left, else Cancelled or Timeout.
  Status check() const;
  // Sleeps. Returns false immediately when it is time to stop.
  bool sleep(std::chrono::milliseconds time) const;

 private:
  friend class StopSource;
  std::shared_ptr<const stop_parts::Asked> asked_;
  TimePoint deadline_ = TimePoint::max();
};

// Issues stop tokens. Tokens may outlive their source.
class StopSource {
 public:
  StopSource();
  // Wakes all threads that sleep on a token. Safe in signal handlers and from several threads.
  void request() noexcept;
  bool requested() const noexcept;
  Stop token() const;

 private:
  std::shared_ptr<stop_parts::Asked> flag_;
};

// A run stops in two steps, like Ctrl-C. The first request starts nothing new, and lets running work finish
// and be recorded. The second request also ends running work immediately.
class Cancellation {
 public:
  // Safe in signal handlers and from several threads.
  void request() noexcept {
    (level_.fetch_add(1, std::memory_order_relaxed) == 0 ? finishing_ : now_).request();
  }
  int level() const noexcept { return level_.load(std::memory_order_relaxed); }
  bool stop_starting() const noexcept { return level() >= 1; }
  bool stop_now() const noexcept { return level() >= 2; }
  Stop finishing() const { return finishing_.token(); }  // after the first request
  Stop now() const { return now_.token(); }              // after the second

 private:
  std::atomic<int> level_{0};
  StopSource finishing_, now_;
  static_assert(std::atomic<int>::is_always_lock_free);
};

}  // namespace radl
