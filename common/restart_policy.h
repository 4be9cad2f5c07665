// Decides whether and when to restart something that ended early: any number of times if each start lasts,
// else a few times in a row with growing waits. Pure: the caller supplies the time and waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace radl {

struct RestartPolicy {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::chrono::milliseconds first_wait;  // before the second start in a row; doubles with each further one
  std::chrono::milliseconds longest_wait;
  std::chrono::milliseconds lasting;  // a start that lasts this long begins a new row
  int most_in_a_row;                  // limit of restarts that did not last

  // Call when it has ended. Returns the wait before the restart; nullopt: do not restart.
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

  std::optional<TimePoint> started = std::nullopt;  // time of the last restart
  int row = 0;
};

}  // namespace radl
