// When to stop: somebody asked for it, or the time is over. One token for both, cheap to copy, good in any
// thread.
#pragma once

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

}  // namespace radl
