// Anwar et al., equations 6 to 9: time and money weighted, within a budget.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "runtime/foresight/anwar.h"

namespace radl::foresight {
namespace {

constexpr double kSecondsAnHour = 3600;

Status check_weights(const std::vector<SizedCandidate>& candidates, const Weights& weights,
                     const std::optional<Money>& budget) {
  if (candidates.empty()) return Status(Code::Invalid, "there is no candidate to choose from");
  const bool sound = std::isfinite(weights.time) && std::isfinite(weights.money) && weights.time >= 0 &&
                     weights.money >= 0 && weights.time + weights.money > 0;
  if (!sound)
    return Status(Code::Invalid, fmt::format("weights {} and {}: both must be at least 0, and one above it",
                                             weights.time, weights.money));
  const std::string& currency = candidates.front().per_hour.currency;
  for (const SizedCandidate& one : candidates) {
    if (one.per_hour.currency != currency || (budget && budget->currency != currency))
      return Status(Code::Invalid,
                    "prices and budget are in several currencies: no rate between them is known");
    if (one.machines < 1 || !std::isfinite(one.seconds) || one.seconds < 0)
      return Status(Code::Invalid, fmt::format("a candidate with {} machines and {} s is not valid",
                                               one.machines, one.seconds));
  }
  return {};
}

}  // namespace

int64_t run_cost_micros(int64_t micros_per_hour, double seconds) {
  const double micros = std::ceil(static_cast<double>(micros_per_hour) * seconds / kSecondsAnHour - 1e-6);
  // What does not fit is no price; it stays at the end of the range.
  constexpr double kMost = 9.2e18;
  return micros >= kMost ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(micros);
}

Money run_cost(const Money& per_hour, double seconds) {
  return {run_cost_micros(per_hour.micros, seconds), per_hour.currency};
}

Result<SizedCandidate> least_weighted(const std::vector<SizedCandidate>& candidates, const Weights& weights,
                                      const std::optional<Money>& budget, CostOf cost) {
  if (Status right = check_weights(candidates, weights, budget); !right.ok()) return right;
  auto cost_of = [&](const SizedCandidate& one) {
    return cost == CostOf::Rate ? one.per_hour : run_cost(one.per_hour, one.seconds);
  };
  auto key = [&](const SizedCandidate& one) {
    return std::tuple(weights.time * one.seconds / kSecondsAnHour + weights.money * cost_of(one).units(),
                      one.per_hour.micros, one.machines);
  };
  const SizedCandidate *best = nullptr, *cheapest = nullptr;
  for (const SizedCandidate& one : candidates) {
    if (cheapest == nullptr || cost_of(one).micros < cost_of(*cheapest).micros) cheapest = &one;
    if (budget && cost_of(one).micros > budget->micros) continue;
    if (best == nullptr || key(one) < key(*best)) best = &one;
  }
  if (best == nullptr)
    return Status(Code::NotFound, "nothing costs at most " + budget->text())
        .with_hint("the least budget that would do: " + cost_of(*cheapest).text());
  return *best;
}

}  // namespace radl::foresight
