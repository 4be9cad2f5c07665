// The retry policy for all HTTP requests.
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
  // Starts over after progress, as if no attempt had been made.
  void reset();
  // Sleeps before the next attempt: a random time between 0 and first * 2^n, at most `largest_seconds` ("full
  // jitter": AWS Architecture Blog, "Exponential Backoff And Jitter", 2015), or longer if the server asks for
  // it. Cancelled. Timeout, without sleeping, if the wait would exceed the deadline.
  Status wait(std::optional<double> retry_after = {});
  // Returns the same wait in seconds without sleeping.
  double next_wait(std::optional<double> retry_after = {});

 private:
  const Retries retries_;
  const Stop stop_;
  int attempts_ = 0;
  double limit_ = 0;
};

// Seconds of a Retry-After header, a number or a date; nullopt if it is neither.
std::optional<double> parse_retry_after(std::string_view text, std::time_t now);

// True if a response with this status is worth a retry: 408, 429, 500, 502, 503, 504.
bool passing_status(int status);

}  // namespace radl::http
