// Limits the request rate to a server: a token bucket shared by all its callers. It is unlimited until the
// server first throttles. Then it fills at a fraction of the measured rate and grows again as requests
// succeed (the CUBIC curve, RFC 9438, as in the AWS SDKs' "adaptive" retry mode: AWS SDKs and Tools Reference
// Guide, "Retry behavior").
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

  // `most`: hard limit in requests per second, with bursts of up to `burst`; 0: no hard limit. Tests pass
  // `now`.
  explicit Rate(double most = 0, double burst = 0, std::function<Clock::time_point()> now = Clock::now);

  // Waits for a turn. Cancelled or Timeout by the stop.
  Status take(const Stop& stop);
  void throttled();  // the server rejected a request as one too many
  void served();     // the server answered a request

  // Takes a turn without waiting: returns how long take() would sleep.
  std::chrono::duration<double> reserve();
  double per_second() const;  // the current limit; 0: none

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
  double largest_ = 0;   // the rate at the last throttling
  Clock::time_point filled_at_, counted_from_, throttled_at_;
};

}  // namespace radl::http
