#include "runtime/farm/evolve.h"

#include <algorithm>
#include <numeric>

#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr double kRedrawn = 0.25;  // share of parameters that are drawn again
constexpr double kFactor = 1.2;    // the others are multiplied by this, or divided by it
constexpr size_t kQuarter = 4;

Json changed(const Parameter& parameter, const Json& value, Draws& draws) {
  const double redrawn = draws.uniform(), position = draws.uniform();
  const bool up = draws.uniform() < 0.5;
  // The space may have been another one when the parent got its value.
  const bool fits = parameter.is_choice() ? !value.is_null() : value.is_number();
  if (!fits || redrawn < kRedrawn) return parameter.at(position);
  if (parameter.is_choice()) {
    const size_t count = parameter.values.size();
    const auto place = static_cast<size_t>(
        std::find(parameter.values.begin(), parameter.values.end(), value) - parameter.values.begin());
    if (count == 1 || place == count) return parameter.at(position);
    const bool next = place == 0 || (up && place + 1 < count);
    return parameter.values[next ? place + 1 : place - 1];
  }
  return parameter.nearest(value.get<double>() * (up ? kFactor : 1 / kFactor));
}

Json explored(const Space& space, const Json& parent, Draws& draws) {
  Json made = Json::object();
  for (const Parameter& parameter : space.parameters()) {
    Json value = changed(parameter, json::member(parent, parameter.name), draws);
    if (parameter.exists(made)) made[parameter.name] = std::move(value);
  }
  return made;
}

}  // namespace

Suggestion evolve(const Space& space, const std::vector<Ancestor>& before, size_t member, Draws draws) {
  std::vector<size_t> ranked(before.size());
  std::iota(ranked.begin(), ranked.end(), size_t{0});
  std::stable_sort(ranked.begin(), ranked.end(), [&](size_t a, size_t b) {
    if (!before[a].cost || !before[b].cost) return before[a].cost.has_value() && !before[b].cost;
    return *before[a].cost < *before[b].cost;
  });
  const auto alive = static_cast<size_t>(std::count_if(
      before.begin(), before.end(), [](const Ancestor& each) { return each.cost.has_value(); }));
  if (alive == 0) {
    std::vector<double> positions;
    for (size_t i = 0; i < space.parameters().size(); ++i) positions.push_back(draws.uniform());
    return {space.values(positions), ""};
  }
  const size_t quarter = std::max<size_t>(1, before.size() / kQuarter);
  const auto rank = static_cast<size_t>(std::find(ranked.begin(), ranked.end(), member) - ranked.begin());
  const bool behind = before.size() > 1 && rank >= before.size() - quarter;
  if (before[member].cost && !behind) return {before[member].parameters, before[member].task};
  const size_t best = std::min(quarter, alive);
  const Ancestor& parent = before[ranked[static_cast<size_t>(draws.uniform() * static_cast<double>(best))]];
  return {explored(space, parent.parameters, draws), parent.task};
}

}  // namespace radl::farm
