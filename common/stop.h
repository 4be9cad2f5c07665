// When to stop: somebody asked for it, or the time is over. One token for both, cheap to copy, good in any
// thread. Everything that can wait (a transfer, a call over HTTP, a command on a node, a lock, a boot) takes
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

  Stop() = default;  // never
  // `asked` is polled: at every check, and about every 50 ms while somebody sleeps or waits.
  static Stop when(std::function<bool()> asked);

  Stop until(TimePoint deadline) const;  // this, and at the deadline if it is earlier
  Stop within(std::chrono::milliseconds time) const;
  Stop or_when(const Stop& other) const;  // this or the other, whichever comes first

  bool asked() const;
  TimePoint deadline() const { return deadline_; }
  // Not below zero; a day at most, so that it can be added to a time.
  std::chrono::milliseconds left() const;
  // Cancelled or Timeout, or ok while there is time.
  Status check() const;
  // Sleeps; at once false when it is time to stop before the end.
  bool sleep(std::chrono::milliseconds time) const;

 private:
  friend class StopSource;
  std::shared_ptr<const stop_parts::Asked> asked_;
  TimePoint deadline_ = TimePoint::max();
};

// Where a stop comes from. Its tokens may outlive it.
class StopSource {
 public:
  StopSource();
  // Wakes all who sleep on a token. Safe in a signal handler and in several threads.
  void request() noexcept;
  bool requested() const noexcept;
  Stop token() const;

 private:
  std::shared_ptr<stop_parts::Asked> flag_;
};

// A run is stopped in two steps, as by Ctrl-C. Asked once: nothing more is begun, what is under way ends well
// and is recorded. Asked again: that ends now, too.
class Cancellation {
 public:
  // Safe in a signal handler and in several threads.
  void request() noexcept {
    (level_.fetch_add(1, std::memory_order_relaxed) == 0 ? finishing_ : now_).request();
  }
  int level() const noexcept { return level_.load(std::memory_order_relaxed); }
  bool stop_starting() const noexcept { return level() >= 1; }
  bool stop_now() const noexcept { return level() >= 2; }
  Stop finishing() const { return finishing_.token(); }  // from the first request on
  Stop now() const { return now_.token(); }              // from the second

 private:
  std::atomic<int> level_{0};
  StopSource finishing_, now_;
  static_assert(std::atomic<int>::is_always_lock_free);
};

}  // namespace radl
