#include "runtime/foresight/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace radl::foresight {
namespace {

constexpr size_t kSample = 64;  // one in this many is examined first
constexpr size_t kFewToSample = 4096;

bool faster(const Candidate& a, const Candidate& b) {
  if (a.seconds != b.seconds) return a.seconds < b.seconds;
  if (a.cost != b.cost) return a.cost < b.cost;
  return a.machines < b.machines;
}

// Positions of what nothing beats, of `positions`; those are sorted by it.
std::vector<size_t> unbeaten(const std::vector<Candidate>& candidates, std::vector<size_t> positions) {
  std::sort(positions.begin(), positions.end(), [&](size_t a, size_t b) {
    if (faster(candidates[a], candidates[b])) return true;
    return !faster(candidates[b], candidates[a]) && a < b;
  });
  std::vector<size_t> frontier;
  for (size_t at : positions)
    if (frontier.empty() || candidates[at].cost < candidates[frontier.back()].cost) frontier.push_back(at);
  return frontier;
}

// Whether one of the frontier is at least as good in both and better in one.
bool beaten(const std::vector<Candidate>& candidates, const std::vector<size_t>& frontier,
            const Candidate& one) {
  // The last that is not slower is the cheapest of them.
  auto slower = std::upper_bound(frontier.begin(), frontier.end(), one.seconds,
                                 [&](double seconds, size_t at) { return seconds < candidates[at].seconds; });
  if (slower == frontier.begin()) return false;
  const Candidate& best = candidates[*std::prev(slower)];
  return best.cost < one.cost || (best.cost == one.cost && best.seconds < one.seconds);
}

std::vector<size_t> frontier_of(const std::vector<Candidate>& candidates) {
  const auto fit = [](const Candidate& one) { return one.verdict == Verdict::Fits; };
  const bool sustained = std::any_of(candidates.begin(), candidates.end(),
                                     [&](const Candidate& one) { return fit(one) && !one.burstable; });
  std::vector<size_t> fits, sample;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (fit(candidates[i]) && !(sustained && candidates[i].burstable)) fits.push_back(i);
  if (fits.size() <= kFewToSample) return unbeaten(candidates, std::move(fits));
  for (size_t i = 0; i < fits.size(); i += kSample) sample.push_back(fits[i]);
  const std::vector<size_t> rough = unbeaten(candidates, std::move(sample));
  std::erase_if(fits, [&](size_t at) { return beaten(candidates, rough, candidates[at]); });
  return unbeaten(candidates, std::move(fits));
}

Status check_question(const Objective& objective, const Bounds& bounds) {
  const bool weights = std::isfinite(objective.time) && std::isfinite(objective.money) &&
                       objective.time >= 0 && objective.money >= 0 && objective.time + objective.money > 0;
  if (!weights)
    return Status(Code::Invalid, fmt::format("weights {} and {}: both must be at least 0, and one above it",
                                             objective.time, objective.money));
  if ((bounds.rate && *bounds.rate <= 0) || (bounds.cost && *bounds.cost <= 0) ||
      (bounds.deadline && !(*bounds.deadline > 0)))
    return Status(Code::Invalid, "a budget and a deadline must be above 0");
  return {};
}

Verdict verdict_of(const Candidate& one, const Bounds& bounds) {
  if (one.verdict != Verdict::Fits) return one.verdict;
  if (!std::isfinite(one.seconds) || !std::isfinite(one.high) || one.seconds < 0) return Verdict::Unknown;
  if ((bounds.rate && one.rate > *bounds.rate) || (bounds.cost && one.cost > *bounds.cost))
    return Verdict::Budget;
  if (bounds.deadline && one.high > *bounds.deadline) return Verdict::Deadline;
  return Verdict::Fits;
}

// The least of one figure, by those that keep the other bounds and by all.
template <class Number>
struct Least {
  std::optional<Number> kept, all;
  void take(Number value, bool keeps_others) {
    if (!all || value < *all) all = value;
    if (keeps_others && (!kept || value < *kept)) kept = value;
  }
  std::optional<Number> of() const { return kept ? kept : all; }
};

void note_least(const std::vector<Candidate>& candidates, const std::vector<bool>& runs, const Bounds& bounds,
                Choice& choice) {
  Least<int64_t> rate, cost;
  Least<double> end;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!runs[i]) continue;
    const Candidate& one = candidates[i];
    const bool in_rate = !bounds.rate || one.rate <= *bounds.rate,
               in_cost = !bounds.cost || one.cost <= *bounds.cost,
               in_time = !bounds.deadline || one.high <= *bounds.deadline;
    rate.take(one.rate, in_cost && in_time);
    cost.take(one.cost, in_rate && in_time);
    end.take(one.high, in_rate && in_cost);
  }
  choice.least_rate = rate.of();
  choice.least_cost = cost.of();
  choice.earliest = end.of();
  choice.alone = rate.kept || cost.kept || end.kept;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fits:
      return "fits";
    case Verdict::Memory:
      return "memory";
    case Verdict::Quota:
      return "quota";
    case Verdict::Budget:
      return "budget";
    case Verdict::Deadline:
      return "deadline";
    case Verdict::Unknown:
      return "unknown";
  }
  return "unknown";
}

Result<Choice> choose(std::vector<Candidate>& candidates, const Objective& objective, const Bounds& bounds) {
  if (Status right = check_question(objective, bounds); !right.ok()) return right;
  Choice choice;
  std::vector<bool> runs(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate& one = candidates[i];
    runs[i] = one.verdict == Verdict::Fits;
    one.verdict = verdict_of(one, bounds);
    runs[i] = runs[i] && one.verdict != Verdict::Unknown;
  }
  note_least(candidates, runs, bounds, choice);
  choice.frontier = frontier_of(candidates);
  // What an objective with weights of at least 0 prefers is never beaten in both, so it is on the frontier;
  // of those alike in it the cheaper comes later.
  const double larger = std::max(objective.time, objective.money);  // sums of the largest numbers stay finite
  double best = 0;
  for (size_t at : choice.frontier) {
    const Candidate& one = candidates[at];
    const double value = objective.time / larger * one.seconds / 3600 +
                         objective.money / larger * static_cast<double>(one.cost) / 1e6;
    if (choice.chosen && value >= best) continue;
    choice.chosen = at;
    best = value;
  }
  return choice;
}

}  // namespace radl::foresight
