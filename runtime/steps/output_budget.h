// How much of a program's output is shown while it runs: a burst, and then a steady rate. Pure: the time is
// given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace radl {

class OutputBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr double kBurst = 1 << 20, kPerSecond = 64 << 10;  // bytes

  static constexpr double kPerLine = 64;  // bytes that a line counts for besides its own

  // Whether a line of so many bytes is within it; if so, they are taken. Once it is used up it starts again
  // with a second's worth, so that what is shown are stretches, not single lines.
  bool takes(size_t line, Time now) {
    const double bytes = static_cast<double>(line) + kPerLine;
    if (last_ != Time{})
      left_ = std::min(kBurst, left_ + kPerSecond * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    if (used_up_ && left_ < kPerSecond) return false;
    used_up_ = left_ < bytes;
    if (!used_up_) left_ -= bytes;
    return !used_up_;
  }

 private:
  double left_ = kBurst;
  bool used_up_ = false;
  Time last_{};
};

}  // namespace radl
