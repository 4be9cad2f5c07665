#include "runtime/farm/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr size_t kMostTrials = 100000;
constexpr int kCandidates = 24;     // of TPE, for each trial
constexpr size_t kLearnsFrom = 10;  // trials of TPE that are random
constexpr double kGoodShare = 0.1;  // of the trials that TPE imitates

constexpr std::array<std::pair<std::string_view, Strategy>, 5> kStrategies = {{{"grid", Strategy::Grid},
                                                                               {"random", Strategy::Random},
                                                                               {"sobol", Strategy::Sobol},
                                                                               {"asha", Strategy::Asha},
                                                                               {"tpe", Strategy::Tpe}}};

// SplitMix64: numbers that depend on the seed and on what they are for, not on an order of calls.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class Draws {
 public:
  Draws(uint64_t seed, uint64_t purpose, uint64_t number)
      : state_(mixed(mixed(mixed(seed) ^ purpose) ^ number)) {}
  double uniform() {
    state_ = mixed(state_);
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

// Direction numbers of Joe and Kuo (2008), dimensions 2 to 8: degree, coefficients, initial m.
struct Direction {
  unsigned degree, coefficients;
  std::array<uint32_t, 5> m;
};
constexpr std::array<Direction, 7> kDirections = {{{1, 0, {1}},
                                                   {2, 1, {1, 3}},
                                                   {3, 1, {1, 3, 1}},
                                                   {3, 2, {1, 1, 1}},
                                                   {4, 1, {1, 1, 3, 3}},
                                                   {4, 4, {1, 3, 5, 13}},
                                                   {5, 2, {1, 1, 5, 5, 17}}}};

std::array<uint32_t, 32> directions_of(size_t dimension) {
  std::array<uint32_t, 32> v{};
  if (dimension == 0) {
    for (unsigned i = 0; i < 32; ++i) v[i] = 1u << (31 - i);
    return v;
  }
  const Direction& row = kDirections[dimension - 1];
  for (unsigned i = 0; i < 32; ++i) {
    if (i < row.degree) {
      v[i] = row.m[i] << (31 - i);
      continue;
    }
    v[i] = v[i - row.degree] ^ (v[i - row.degree] >> row.degree);
    for (unsigned k = 1; k < row.degree; ++k)
      if (row.coefficients >> (row.degree - 1 - k) & 1) v[i] ^= v[i - k];
  }
  return v;
}

// A mixture of normal densities around points, cut off at 0 and 1, and of the uniform one. Where points lie
// apart they are wide: up to the farther neighbour.
class Mixture {
 public:
  // `width`: of each; 0: by its neighbours.
  Mixture(std::vector<double> points, double width) : points_(std::move(points)) {
    std::sort(points_.begin(), points_.end());
    const double least = 1 / std::min(100.0, static_cast<double>(points_.size()) + 1);
    for (size_t i = 0; i < points_.size(); ++i) {
      const double left = points_[i] - (i > 0 ? points_[i - 1] : 0);
      const double right = (i + 1 < points_.size() ? points_[i + 1] : 1) - points_[i];
      widths_.push_back(width > 0 ? width : std::max(least, std::max(left, right)));
    }
  }
  double density(double at) const {
    double sum = 1;
    for (size_t i = 0; i < points_.size(); ++i) {
      const double d = (at - points_[i]) / widths_[i];
      const double inside = below((1 - points_[i]) / widths_[i]) - below(-points_[i] / widths_[i]);
      sum += std::exp(-0.5 * d * d) / (widths_[i] * std::sqrt(2 * std::numbers::pi) * inside);
    }
    return sum / static_cast<double>(points_.size() + 1);
  }
  double draw(Draws& draws) const {
    const auto pick = static_cast<size_t>(draws.uniform() * static_cast<double>(points_.size() + 1));
    for (int tries = 0; pick < points_.size() && tries < 100; ++tries) {
      const double at = points_[pick] + widths_[pick] * draws.normal();
      if (at >= 0 && at < 1) return at;
    }
    return draws.uniform();
  }

 private:
  static double below(double deviations) { return 0.5 * std::erfc(-deviations / std::numbers::sqrt2); }
  std::vector<double> points_, widths_;
};

// The position that imitates `good` and avoids `bad`.
double imitate(const Parameter& parameter, std::vector<double> good, std::vector<double> bad, Draws& draws) {
  const double width = parameter.is_choice() ? 0.25 / static_cast<double>(parameter.values.size()) : 0;
  const Mixture like(std::move(good), width), unlike(std::move(bad), width);
  double best = 0.5, best_score = -1;
  for (int i = 0; i < kCandidates; ++i) {
    const double at = like.draw(draws), score = like.density(at) / unlike.density(at);
    if (score > best_score) best = at, best_score = score;
  }
  return best;
}

}  // namespace

std::optional<Strategy> find_strategy(std::string_view name) {
  for (const auto& [text, strategy] : kStrategies) {
    if (text == name) return strategy;
  }
  return std::nullopt;
}

Result<SearchSettings> parse_search(const Json& json) {
  SearchSettings made;
  auto space = Space::parse(json::member(json, "space"));
  if (!space) return std::move(space).status();
  made.space = std::move(*space);
  const std::string name = json.contains("strategy") ? json::text_of(json, "strategy") : "random";
  auto strategy = find_strategy(name);
  if (!strategy)
    return invalid(fmt::format("'{}' is not a strategy; use grid, random, sobol, asha or tpe", name));
  made.strategy = *strategy;
  made.stops_early = *strategy == Strategy::Asha || json::flag_of(json, "stops_early");
  const double trials = json::number_of(json, "trials", 16);
  if (trials < 1 || trials > kMostTrials) return invalid("`trials` must be from 1 to 100000");
  made.trials = static_cast<size_t>(trials);
  if (json.contains("metric")) made.metric = json::text_of(json, "metric");
  const std::string goal = json.contains("goal") ? json::text_of(json, "goal") : "min";
  if (goal != "min" && goal != "max") return invalid(fmt::format("`goal` is 'min' or 'max', not '{}'", goal));
  made.maximize = goal == "max";
  made.seed = static_cast<uint64_t>(json::number_of(json, "seed"));
  made.first_rung = static_cast<int>(json::number_of(json, "first_rung", 1));
  made.reduction = static_cast<int>(json::number_of(json, "reduction", 3));
  if (made.first_rung < 1 || made.reduction < 2)
    return invalid("`first_rung` must be at least 1, and `reduction` at least 2");
  return made;
}

std::vector<double> sobol_point(size_t number, size_t dimensions, uint64_t seed) {
  static const std::array<std::array<uint32_t, 32>, 8> kAll = [] {
    std::array<std::array<uint32_t, 32>, 8> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = directions_of(i);
    return all;
  }();
  std::vector<double> point;
  const uint32_t gray = static_cast<uint32_t>(number) ^ static_cast<uint32_t>(number) >> 1;
  for (size_t d = 0; d < dimensions; ++d) {
    Draws draws(seed, 1000 + d, d < kAll.size() ? 0 : number);
    const double shift = draws.uniform();
    uint32_t bits = 0;
    for (unsigned i = 0; i < 32 && d < kAll.size(); ++i)
      if (gray >> i & 1) bits ^= kAll[d][i];
    const double at = static_cast<double>(bits) * 0x1p-32 + shift;
    point.push_back(at >= 1 ? at - 1 : at);
  }
  return point;
}

Search::Search(SearchSettings settings) : settings_(std::move(settings)) {
  if (settings_.strategy == Strategy::Grid) grid_ = settings_.space.grid(settings_.trials);
}

void Search::observe(const Event& event) {
  const std::string kind = json::text_of(event, "event"), name = json::text_of(event, "task");
  if (kind == "add") {
    const Json& parameters = json::member(json::member(event, "spec"), "parameters");
    if (parameters.is_object()) trials_[name].parameters = parameters;
    return;
  }
  auto found = trials_.find(name);
  if (found == trials_.end()) return;
  Trial& trial = found->second;
  if (kind == "commit") trial.over = true;
  if (kind == "start") {  // what a lost attempt has reported does not count
    trial.over = false;
    trial.value.reset();
  }
  if (kind != "metric") return;
  const Json& value = json::member(json::member(event, "values"), settings_.metric);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return;
  trial.value = value.get<double>();
  if (settings_.stops_early) reach(trial, static_cast<int>(json::number_of(event, "report")));
}

void Search::reach(Trial& trial, int report) {
  long long rung = settings_.first_rung;
  while (rung < report) rung *= settings_.reduction;
  if (rung != report || trial.reached >= report) return;
  trial.reached = report;
  const double cost = settings_.maximize ? -*trial.value : *trial.value;
  std::vector<double>& others = rungs_[report];
  others.insert(std::lower_bound(others.begin(), others.end(), cost), cost);
  // The first ones have nobody to be compared with: they go on.
  const size_t stay = others.size() / static_cast<size_t>(settings_.reduction);
  if (stay > 0 && cost > others[stay - 1]) trial.stops = true;
}

bool Search::should_stop(const std::string& task) const {
  auto found = trials_.find(task);
  return found != trials_.end() && found->second.stops && !found->second.over;
}

std::vector<double> Search::drawn(size_t number) const {
  const size_t dimensions = settings_.space.parameters().size();
  if (settings_.strategy == Strategy::Sobol) return sobol_point(number, dimensions, settings_.seed);
  Draws draws(settings_.seed, 1, number);
  std::vector<double> positions;
  for (size_t i = 0; i < dimensions; ++i) positions.push_back(draws.uniform());
  return positions;
}

std::optional<Json> Search::next() const {
  const size_t number = trials_.size();
  if (number >= settings_.trials) return std::nullopt;
  if (settings_.strategy == Strategy::Grid)
    return number < grid_.size() ? std::optional<Json>(grid_[number]) : std::nullopt;
  if (settings_.strategy == Strategy::Tpe) return learned(number);
  return settings_.space.values(drawn(number));
}

Json Search::learned(size_t number) const {
  std::vector<const Trial*> known;
  for (const auto& [name, trial] : trials_) {
    if (trial.over && trial.value) known.push_back(&trial);
  }
  if (known.size() < kLearnsFrom) return settings_.space.values(drawn(number));
  std::stable_sort(known.begin(), known.end(), [&](const Trial* a, const Trial* b) {
    return settings_.maximize ? *a->value > *b->value : *a->value < *b->value;
  });
  const auto good_count = static_cast<size_t>(std::ceil(kGoodShare * static_cast<double>(known.size())));
  Draws draws(settings_.seed, 2, number);
  std::vector<double> positions;
  for (const Parameter& parameter : settings_.space.parameters()) {
    std::vector<double> good, bad;
    for (size_t i = 0; i < known.size(); ++i) {
      const Json& value = json::member(known[i]->parameters, parameter.name);
      if (!value.is_null()) (i < good_count ? good : bad).push_back(parameter.position(value));
    }
    positions.push_back(imitate(parameter, std::move(good), std::move(bad), draws));
  }
  return settings_.space.values(positions);
}

std::optional<double> Search::value(const std::string& task) const {
  auto found = trials_.find(task);
  return found == trials_.end() ? std::nullopt : found->second.value;
}

std::string Search::best() const {
  std::string best;
  double least = 0;
  for (const auto& [name, trial] : trials_) {
    if (!trial.over || !trial.value) continue;
    const double cost = settings_.maximize ? -*trial.value : *trial.value;
    if (best.empty() || cost < least) best = name, least = cost;
  }
  return best;
}

}  // namespace radl::farm
