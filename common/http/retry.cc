#include "common/http/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <random>

namespace radl::http {
namespace {

double uniform(double high) {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, high)(random);
}

std::chrono::milliseconds duration(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(std::min(seconds, 1e9)));
}

}  // namespace

Backoff::Backoff(const Retries& retries, Stop stop)
    : retries_(retries),
      stop_(retries.deadline_seconds > 0 ? stop.within(duration(retries.deadline_seconds)) : stop),
      limit_(retries.first_seconds) {}

void Backoff::reset() {
  attempts_ = 0;
  limit_ = retries_.first_seconds;
}

double Backoff::next_wait(std::optional<double> retry_after) {
  const double wait = uniform(std::min(limit_, retries_.largest_seconds));
  limit_ = std::min(limit_ * 2, retries_.largest_seconds);
  return std::max(wait, retry_after.value_or(0));
}

Status Backoff::wait(std::optional<double> retry_after) {
  const auto time = duration(next_wait(retry_after));
  if (Status s = stop_.check(); !s.ok()) return s;
  if (time >= stop_.left() && stop_.deadline() != Stop::TimePoint::max())
    return {Code::Timeout, "no time is left for another attempt"};
  return stop_.sleep(time) ? Status() : stop_.check();
}

std::optional<double> parse_retry_after(std::string_view text, std::time_t now) {
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0) return seconds;
  const std::time_t at = ::curl_getdate(std::string(text).c_str(), nullptr);
  if (at < 0) return std::nullopt;
  return std::max(0.0, std::difftime(at, now));
}

bool passing_status(int status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

}  // namespace radl::http
