// Waiting between attempts: one policy for everything that is sent over HTTP.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::http {

class Backoff {
 public:
  explicit Backoff(const Retries& retries, Stop stop = {});

  // True while another attempt is allowed; counts it.
  bool again() { return ++attempts_ < retries_.attempts; }
  // Something moved: as if this had been the first attempt.
  void reset();
  // Sleeps before the next attempt: a random time between 0 and first * 2^n, at most `largest_seconds` ("full
  // jitter": AWS Architecture Blog, "Exponential Backoff And Jitter", 2015), or what the server asked for if
  // that is longer. Cancelled; Timeout, without sleeping, when it would outlast the deadline.
  Status wait(std::optional<double> retry_after = {});
  // The same times without sleeping (in seconds).
  double next_wait(std::optional<double> retry_after = {});

 private:
  const Retries retries_;
  const Stop stop_;
  int attempts_ = 0;
  double limit_ = 0;
};

// Seconds of a Retry-After header, a number or a date; nothing when it is neither.
std::optional<double> parse_retry_after(std::string_view text, std::time_t now);

// Whether an answer of this status is worth another attempt: 408, 429, 500, 502, 503, 504.
bool passing_status(int status);

}  // namespace radl::http
