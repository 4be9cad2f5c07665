// Limits the live output of a program: a burst, then a steady rate. Pure: the caller supplies the
// time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace radl {

class OutputBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr double kBurst = 1 << 20, kPerSecond = 64 << 10;  // bytes

  static constexpr double kPerLine = 64;  // bytes that each line counts in addition to its length

  // True if a line of this length is within the budget, and charges it. Once exhausted, it resumes with a
  // second's worth, so that continuous stretches are shown instead of single lines.
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
