#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/json_values.h"
#include "runtime/farm/search.h"

namespace radl::farm {
namespace {

constexpr size_t kMostTrials = 100000;

constexpr std::array<std::pair<std::string_view, Strategy>, 7> kStrategies = {{{"grid", Strategy::Grid},
                                                                               {"random", Strategy::Random},
                                                                               {"sobol", Strategy::Sobol},
                                                                               {"asha", Strategy::Asha},
                                                                               {"tpe", Strategy::Tpe},
                                                                               {"pbt", Strategy::Pbt},
                                                                               {"optuna", Strategy::Optuna}}};

// The finished trials of tables, best first.
Status take_earlier(const Json& tables, SearchSettings& made) {
  for (const Json& text : tables.is_array() ? tables : Json::array({tables})) {
    const Json table = text.is_string() ? json::parse_json(text.get<std::string>()) : Json();
    if (!table.is_array())
      return invalid("`from` must hold texts of table.json")
          .with_hint("from = [file('old-results/table.json')]");
    for (const Json& row : table) {
      const Json& parameters = json::member(json::member(row, "spec"), "parameters");
      const Json& value = json::member(json::member(row, "metrics"), made.metric);
      const std::string state = json::text_of(row, "state");
      const bool over = state == state_name(State::Finished) || state == state_name(State::Stopped);
      if (parameters.is_object() && value.is_number() && over)
        made.earlier.push_back({parameters, value.get<double>()});
    }
  }
  std::stable_sort(made.earlier.begin(), made.earlier.end(), [&](const Earlier& a, const Earlier& b) {
    return made.maximize ? a.value > b.value : a.value < b.value;
  });
  return {};
}

Status check_members(const Json& json) {
  static constexpr std::array<std::string_view, 12> kKnown = {
      "space",       "strategy", "trials",     "metric",    "goal",       "seed",
      "stops_early", "from",     "first_rung", "reduction", "population", "sampler"};
  for (const auto& [name, value] : json.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end() && name != "sampler_options")
      return invalid(fmt::format("`{}` is not a member of a search; known: {}, sampler_options", name,
                                 fmt::join(kKnown, ", ")));
  }
  return {};
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
  if (Status known = check_members(json); !known.ok()) return known;
  auto space = Space::parse(json::member(json, "space"));
  if (!space) return std::move(space).status();
  made.space = std::move(*space);
  const std::string name = json.contains("strategy") ? json::text_of(json, "strategy") : "random";
  auto strategy = find_strategy(name);
  if (!strategy)
    return invalid(
        fmt::format("'{}' is not a strategy; use grid, random, sobol, asha, tpe, pbt or optuna", name));
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
  const double population = json::number_of(json, "population", 8);
  if (population < 2 || population > kMostTrials) return invalid("`population` must be from 2 to 100000");
  made.population = static_cast<size_t>(population);
  made.sampler = json::text_of(json, "sampler");
  if (made.sampler.empty()) made.sampler = "TPESampler";
  made.sampler_options = Json::object();
  if (json::member(json, "sampler_options").is_object()) made.sampler_options = json["sampler_options"];
  if (json.contains("from"))
    if (Status taken = take_earlier(json["from"], made); !taken.ok()) return taken;
  return made;
}

}  // namespace radl::farm
