// Whether and when something that ended before its time is started again: without limit as long as each start
// lasts, else a few times in a row, each after a longer wait. Pure: the caller tells the time and waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace radl {

struct RestartPolicy {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::chrono::milliseconds first_wait;  // before the second start in a row; doubled for each further one
  std::chrono::milliseconds longest_wait;
  std::chrono::milliseconds lasting;  // a start that lasted so long begins a new row
  int most_in_a_row;                  // starts again that did not last

  // It has ended now. The wait before it is started again; nothing: it is not.
  std::optional<std::chrono::milliseconds> next(TimePoint now) {
    if (started && now - *started >= lasting) row = 0;
    if (row >= most_in_a_row) return std::nullopt;
    std::chrono::milliseconds wait{0};
    if (row > 0)
      wait = std::min<std::chrono::milliseconds>(first_wait * (1L << std::min(row - 1, 20)), longest_wait);
    ++row;
    started = now + wait;
    return wait;
  }

  std::optional<TimePoint> started = std::nullopt;  // the last time that it was started again
  int row = 0;
};

}  // namespace radl
