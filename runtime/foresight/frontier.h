// Which candidate to take: those that nothing beats in both time and cost, and the one that an objective
// prefers within its limits. Pure; 256,000 candidates in some tens of milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl::foresight {

enum class Verdict : uint8_t { Fits, Memory, Quota, Budget, Deadline, Unknown };
std::string_view verdict_name(Verdict verdict);  // "fits", "memory", ..

// Numbers alone: what it is, its maker knows by `index`.
struct Candidate {
  double seconds = 0, low = 0, high = 0;          // of the run, with its band
  int64_t cost = 0, cost_low = 0, cost_high = 0;  // of the run, millionths of the currency
  int64_t rate = 0;                               // of an hour
  uint32_t index = 0;
  uint16_t machines = 1;
  Verdict verdict = Verdict::Fits;
  bool burstable = false;  // it counts only where nothing else is within the bounds
};

struct Objective {
  // Of an hour, of one unit of money; {1, 0}: time alone, {0, 1}: cost alone.
  double time = 1, money = 0;
};

struct Bounds {
  std::optional<int64_t> rate, cost;  // an hour; of the run
  std::optional<double> deadline;     // seconds; met by the upper end of the band
};

struct Choice {
  std::optional<size_t> chosen;  // position in the candidates; nullopt: nothing is within the bounds
  std::vector<size_t> frontier;  // positions, rising in time; of those that count within the bounds
  // Of those that can run at all: what would have to be changed where nothing is within the bounds. Each is
  // of the candidates that keep the other bounds, where there are such, else of all. `alone`: one of them
  // would do by itself.
  std::optional<int64_t> least_rate, least_cost;
  std::optional<double> earliest;  // seconds, the upper end
  bool alone = true;
};

// Sets the verdict of what fits and is beyond a bound. Invalid: weights that are negative, not finite or both
// 0; a bound that is not above 0. Ties go to the other measure, then to fewer machines, then to the first.
Result<Choice> choose(std::vector<Candidate>& candidates, const Objective& objective, const Bounds& bounds);

}  // namespace radl::foresight
