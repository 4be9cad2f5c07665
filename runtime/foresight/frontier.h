// Chooses among candidates: the Pareto frontier of time and cost, and the best candidate for an objective
// within limits. Pure; 256,000 candidates take some tens of milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl::foresight {

enum class Verdict : uint8_t { Fits, Memory, Quota, Budget, Deadline, Unknown };
std::string_view verdict_name(Verdict verdict);  // "fits", "memory", ..

// Numbers only; `index` identifies the candidate for its creator.
struct Candidate {
  double seconds = 0, low = 0, high = 0;          // of the run, with its band
  int64_t cost = 0, cost_low = 0, cost_high = 0;  // of the run, in millionths of the currency
  int64_t rate = 0;                               // per hour
  uint32_t index = 0;
  uint16_t machines = 1;
  Verdict verdict = Verdict::Fits;
  bool burstable = false;  // considered only if nothing else is within the bounds
};

struct Objective {
  // Weights of an hour and of a unit of money; {1, 0}: time only, {0, 1}: cost only.
  double time = 1, money = 0;
};

struct Bounds {
  std::optional<int64_t> rate, cost;  // per hour; of the run
  std::optional<double> deadline;     // seconds; compared with the upper end of the band
};

struct Choice {
  std::optional<size_t> chosen;  // index of the candidate; nullopt: none is within the bounds
  std::vector<size_t> frontier;  // indices, ascending in time; of eligible candidates within the bounds
  // For feasible candidates, if none is within the bounds: the necessary limits. Each considers
  // the candidates within the other bounds, if any, else all. `alone`: changing a single one
  // suffices.
  std::optional<int64_t> least_rate, least_cost;
  std::optional<double> earliest;  // seconds, the band's upper end
  bool alone = true;
};

// Sets the verdict of feasible candidates beyond a bound. Invalid: weights negative, not finite or both 0; a
// bound not above 0. Ties go to the other measure, then to fewer machines, then to the first.
Result<Choice> choose(std::vector<Candidate>& candidates, const Objective& objective, const Bounds& bounds);

}  // namespace radl::foresight
