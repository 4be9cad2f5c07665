#include "runtime/farm/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/json_values.h"
#include "common/split_mix.h"
#include "runtime/farm/draws.h"

namespace radl::farm {
namespace {

constexpr int kCandidates = 24;     // of TPE, for each trial
constexpr size_t kLearnsFrom = 10;  // trials of TPE that are random
constexpr double kGoodShare = 0.1;  // of the trials that TPE imitates

constexpr size_t kBegunAgain = 2;  // one in so many of the first generation starts from an earlier search

// Purposes of random numbers.
constexpr uint64_t kDrawn = 1, kLearned = 2, kEvolved = 3, kShifted = 1000;

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

std::vector<double> sobol_point(size_t number, size_t dimensions, uint64_t seed) {
  static const std::array<std::array<uint32_t, 32>, 8> kAll = [] {
    std::array<std::array<uint32_t, 32>, 8> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = directions_of(i);
    return all;
  }();
  std::vector<double> point;
  const uint32_t gray = static_cast<uint32_t>(number) ^ static_cast<uint32_t>(number) >> 1;
  for (size_t d = 0; d < dimensions; ++d) {
    Draws draws(seed, kShifted + d, d < kAll.size() ? 0 : number);
    const double shift = draws.uniform();
    uint32_t bits = 0;
    for (unsigned i = 0; i < 32 && d < kAll.size(); ++i)
      if (gray >> i & 1) bits ^= kAll[d][i];
    const double at = static_cast<double>(bits) * 0x1p-32 + shift;
    point.push_back(at >= 1 ? at - 1 : at);
  }
  return point;
}

std::string trial_name(size_t number) { return std::string(kTrialPrefix) + std::to_string(number); }

bool TrialsLeft::may_begin(const Table& table) const {
  if (count == 0 || population == 0) return count > 0;
  const size_t generation = first - first % population;
  for (size_t i = generation - std::min(generation, population); i < generation; ++i) {
    const TaskRecord* task = table.find(trial_name(i));
    if (task && !is_over(task->state)) return false;
  }
  return true;
}

Search::Search(SearchSettings settings, Suggest external)
    : settings_(std::move(settings)), external_(std::move(external)) {
  if (settings_.strategy == Strategy::Grid) grid_ = settings_.space.grid(settings_.trials);
}

void Search::observe(const Event& event) {
  const std::string kind = json::text_of(event, "event"), name = json::text_of(event, "task");
  if (kind == "trials") {
    settings_.trials += static_cast<size_t>(json::number_of(event, "more"));
    if (settings_.strategy == Strategy::Grid) grid_ = settings_.space.grid(settings_.trials);
    return;
  }
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
  const double own = cost(*trial.value);
  std::vector<double>& others = rungs_[report];
  others.insert(std::lower_bound(others.begin(), others.end(), own), own);
  // The first ones have no one to be compared with: they continue.
  const size_t stay = others.size() / static_cast<size_t>(settings_.reduction);
  if (stay > 0 && own > others[stay - 1]) trial.stops = true;
}

bool Search::should_stop(const std::string& task) const {
  auto found = trials_.find(task);
  return found != trials_.end() && found->second.stops && !found->second.over;
}

std::vector<std::string> Search::to_stop(const Table& table) const {
  std::vector<std::string> names;
  for (const auto& [name, trial] : trials_) {
    const TaskRecord* task = trial.stops && !trial.over ? table.find(name) : nullptr;
    if (task && task->state == State::Running && !task->stopping) names.push_back(name);
  }
  return names;
}

std::vector<double> Search::drawn(size_t number) const {
  const size_t dimensions = settings_.space.parameters().size();
  if (settings_.strategy == Strategy::Sobol) return sobol_point(number, dimensions, settings_.seed);
  Draws draws(settings_.seed, kDrawn, number);
  std::vector<double> positions;
  for (size_t i = 0; i < dimensions; ++i) positions.push_back(draws.uniform());
  return positions;
}

TrialsLeft Search::left() const {
  const size_t number = trials_.size();
  const size_t all =
      settings_.strategy == Strategy::Grid ? std::min(settings_.trials, grid_.size()) : settings_.trials;
  return {all - std::min(all, number), number,
          settings_.strategy == Strategy::Pbt ? settings_.population : 0};
}

bool Search::has_next(const Table& table) const { return left().may_begin(table); }

Result<Suggestion> Search::next(const Table& table) const {
  const size_t number = trials_.size();
  switch (settings_.strategy) {
    case Strategy::Grid:
      return Suggestion{grid_[number], ""};
    case Strategy::Tpe:
      return Suggestion{learned(number), ""};
    case Strategy::Pbt:
      return evolved(number, table);
    case Strategy::Optuna: {
      auto answer = external_ ? external_(request(number, table)) : invalid("there is no external searcher");
      if (!answer) return std::move(answer).status();
      return taken(*answer, number);
    }
    case Strategy::Random:
    case Strategy::Sobol:
    case Strategy::Asha:
      break;
  }
  return Suggestion{started(number), ""};
}

Result<Suggestion> Search::taken(const Json& answer, size_t number) const {
  const Json& given = json::member(answer, "parameters");
  Json values = settings_.space.values(drawn(number), given);
  for (const Parameter& each : settings_.space.parameters()) {
    if (values.contains(each.name) && !each.takes(json::member(given, each.name)))
      return Status(Code::Corrupt, fmt::format("the external searcher has no valid value for '{}': {}",
                                               each.name, json::member(given, each.name).dump()));
  }
  return Suggestion{std::move(values), ""};
}

// Drawn values; the first trial has those of the best earlier one.
Json Search::started(size_t number) const {
  const size_t kept = settings_.strategy == Strategy::Pbt ? settings_.population / kBegunAgain : 1;
  const bool again = number < std::min(kept, settings_.earlier.size());
  return settings_.space.values(drawn(number), again ? settings_.earlier[number].parameters : Json::object());
}

Suggestion Search::evolved(size_t number, const Table& table) const {
  const size_t member = number % settings_.population;
  if (number < settings_.population) return {started(number), ""};
  std::vector<Ancestor> before;
  for (size_t i = number - member - settings_.population; i < number - member; ++i) {
    Ancestor one{trial_name(i), Json::object(), std::nullopt};
    if (auto found = trials_.find(one.task); found != trials_.end()) {
      one.parameters = found->second.parameters;
      const TaskRecord* task = table.find(one.task);
      const bool left = task && (task->state == State::Finished || task->state == State::Stopped);
      if (left && found->second.value) one.cost = cost(*found->second.value);
    }
    before.push_back(std::move(one));
  }
  return evolve(settings_.space, before, member, Draws(settings_.seed, kEvolved, number));
}

// All that an external searcher may know.
Json Search::request(size_t number, const Table& table) const {
  Json space = Json::array(), trials = Json::array();
  for (const Parameter& each : settings_.space.parameters()) {
    Json one = {{"name", each.name}, {"when", each.when}};
    if (each.is_choice())
      one["values"] = each.values;
    else
      one.update({{"min", each.min},
                  {"max", each.max},
                  {"log", each.log},
                  {"integer", each.integer},
                  {"step", each.step}});
    space.push_back(std::move(one));
  }
  for (const Earlier& each : settings_.earlier)
    trials.push_back(
        {{"parameters", settings_.space.known(each.parameters)}, {"value", each.value}, {"over", true}});
  for (size_t i = 0; i < number; ++i) {
    const Trial& trial = trials_.at(trial_name(i));
    const TaskRecord* task = table.find(trial_name(i));
    Json one = {{"parameters", settings_.space.known(trial.parameters)},
                {"over", trial.over || (task && is_over(task->state))}};
    if (trial.value && trial.over) one["value"] = *trial.value;
    trials.push_back(std::move(one));
  }
  return {{"sampler", settings_.sampler},
          {"options", settings_.sampler_options},
          {"seed", split_mix64(split_mix64(settings_.seed) ^ number) >> 33},
          {"maximize", settings_.maximize},
          {"space", std::move(space)},
          {"trials", std::move(trials)}};
}

Json Search::learned(size_t number) const {
  std::vector<std::pair<double, const Json*>> known;  // cost and parameters
  for (const Earlier& each : settings_.earlier) known.emplace_back(cost(each.value), &each.parameters);
  for (const auto& [name, trial] : trials_)
    if (trial.over && trial.value) known.emplace_back(cost(*trial.value), &trial.parameters);
  if (known.size() < kLearnsFrom) return started(number);
  std::stable_sort(known.begin(), known.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto good_count = static_cast<size_t>(std::ceil(kGoodShare * static_cast<double>(known.size())));
  Draws draws(settings_.seed, kLearned, number);
  std::vector<double> positions;
  for (const Parameter& parameter : settings_.space.parameters()) {
    std::vector<double> good, bad;
    for (size_t i = 0; i < known.size(); ++i) {
      const Json& value = json::member(*known[i].second, parameter.name);
      if (parameter.takes(value)) (i < good_count ? good : bad).push_back(parameter.position(value));
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
    const double own = cost(*trial.value);
    if (best.empty() || own < least) best = name, least = own;
  }
  return best;
}

}  // namespace radl::farm
