// How fast a server is asked: a token bucket that all who ask it share. It lets everything pass until the
// server throttles for the first time; then it fills at a part of the rate measured, and grows again as
// answers come (the curve of CUBIC, RFC 9438, as the AWS SDKs' "adaptive" retry mode has it: AWS SDKs and
// Tools Reference Guide, "Retry behavior").
#pragma once

#include <chrono>
#include <functional>
#include <mutex>

#include "common/status.h"
#include "common/stop.h"

namespace radl::http {

class Rate {
 public:
  using Clock = std::chrono::steady_clock;

  // `most`: requests a second that are never exceeded, in bursts of up to `burst`; 0: no such limit.
  // `now` is for tests.
  explicit Rate(double most = 0, double burst = 0, std::function<Clock::time_point()> now = Clock::now);

  // Waits for a turn. Cancelled or Timeout by the stop.
  Status take(const Stop& stop);
  void throttled();  // the server turned a request away
  void served();     // it answered one

  // The turn's time without waiting: how long take() would sleep.
  std::chrono::duration<double> reserve();
  double per_second() const;  // the present limit; 0: none

 private:
  void refill(Clock::time_point now);
  void measure(Clock::time_point now);
  double grown(Clock::time_point now) const;
  void limit(double per_second, Clock::time_point now);

  const double most_, burst_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  bool limited_ = false;
  double fill_ = 0, capacity_ = 0, tokens_ = 0;
  double measured_ = 0;  // requests a second, smoothed
  int counted_ = 0;      // since counted_from_
  double largest_ = 0;   // the rate at which the server throttled last
  Clock::time_point filled_at_, counted_from_, throttled_at_;
};

}  // namespace radl::http
