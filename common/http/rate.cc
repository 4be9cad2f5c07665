#include "common/http/rate.h"

#include <algorithm>
#include <cmath>

namespace radl::http {
namespace {

// CUBIC's constants, and the smoothing of the rate measured.
constexpr double kBeta = 0.7, kScale = 0.4, kSmooth = 0.8, kSlowest = 0.5;
constexpr double kMeasureSeconds = 0.5;

double seconds(Rate::Clock::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

Rate::Rate(double most, double burst, std::function<Clock::time_point()> now)
    : most_(most), burst_(std::max(1.0, burst)), now_(std::move(now)) {
  filled_at_ = counted_from_ = throttled_at_ = now_();
  if (most_ > 0) {
    limited_ = true;
    fill_ = most_;
    capacity_ = tokens_ = burst_;
  }
}

void Rate::refill(Clock::time_point now) {
  tokens_ = std::min(capacity_, tokens_ + fill_ * seconds(now - filled_at_));
  filled_at_ = now;
}

void Rate::measure(Clock::time_point now) {
  ++counted_;
  const double passed = seconds(now - counted_from_);
  if (passed < kMeasureSeconds) return;
  measured_ = measured_ > 0 ? kSmooth * (counted_ / passed) + (1 - kSmooth) * measured_ : counted_ / passed;
  counted_ = 0;
  counted_from_ = now;
}

std::chrono::duration<double> Rate::reserve() {
  std::lock_guard lock(mutex_);
  const auto now = now_();
  measure(now);
  if (!limited_) return {};
  refill(now);
  tokens_ -= 1;  // below zero: callers wait in a queue
  return std::chrono::duration<double>(tokens_ >= 0 ? 0 : -tokens_ / fill_);
}

Status Rate::take(const Stop& stop) {
  if (Status s = stop.check(); !s.ok()) return s;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(reserve());
  if (wait.count() == 0 || stop.sleep(wait)) return {};
  std::lock_guard lock(mutex_);
  tokens_ += 1;  // the turn goes back
  return stop.check();
}

// Since the last time that the server throttled: slowly back to that rate, level there, then beyond.
double Rate::grown(Clock::time_point now) const {
  const double window = std::cbrt(largest_ * (1 - kBeta) / kScale);
  const double x = seconds(now - throttled_at_) - window;
  return kScale * x * x * x + largest_;
}

void Rate::limit(double per_second, Clock::time_point now) {
  refill(now);
  fill_ = std::max(kSlowest, most_ > 0 ? std::min(most_, per_second) : per_second);
  capacity_ = std::max(1.0, most_ > 0 ? std::min(burst_, fill_) : fill_);
  tokens_ = std::min(tokens_, capacity_);
}

void Rate::throttled() {
  std::lock_guard lock(mutex_);
  const auto now = now_();
  const double counted = counted_ / std::max(kMeasureSeconds, seconds(now - counted_from_));
  const double measured = measured_ > 0 ? measured_ : counted;
  largest_ = limited_ ? std::min(measured, fill_) : measured;
  largest_ = std::max(largest_, kSlowest);
  throttled_at_ = now;
  if (!limited_) {
    limited_ = true;
    tokens_ = 1;  // who was turned away waits anyway before it asks again
    filled_at_ = now;
  }
  limit(largest_ * kBeta, now);
}

void Rate::served() {
  std::lock_guard lock(mutex_);
  if (!limited_ || largest_ == 0) return;
  const auto now = now_();
  limit(std::min(grown(now), 2 * std::max(measured_, kSlowest)), now);
}

double Rate::per_second() const {
  std::lock_guard lock(mutex_);
  return limited_ ? fill_ : 0;
}

}  // namespace radl::http
