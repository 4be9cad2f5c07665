#include "runtime/farm/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr int kMostSteps = 100000;

Status wrong(const std::string& name, std::string_view why) {
  return invalid(fmt::format("parameter '{}' {}", name, why));
}

Status parse_steps(const Json& json, Parameter& made) {
  made.step = json::number_of(json, "step");
  const bool whole = made.step == std::floor(made.step) && made.min == std::floor(made.min);
  if (json.contains("step") && !(made.step > 0 && made.step <= std::max(0.0, made.max - made.min)))
    return wrong(made.name, "needs a `step` above 0 and within its range");
  if (made.step > 0 && made.log)
    return wrong(made.name, "has both `log` and `step`; for integers use `integer`");
  if (made.step > 0 && made.integer && !whole)
    return wrong(made.name, "has `integer`, so `min` and `step` must be integers");
  const double steps = json::number_of(json, "steps", made.step > 0 ? 0 : 3);
  const bool all = made.step > 0 && !json.contains("steps");
  if (!all && !(steps >= 1 && steps <= kMostSteps))
    return wrong(made.name, fmt::format("needs from 1 to {} steps", kMostSteps));
  if (made.step > 0 && (made.max - made.min) / made.step >= kMostSteps)
    return wrong(made.name, fmt::format("has more than {} values; use a greater `step`", kMostSteps));
  made.steps = static_cast<int>(steps);
  return {};
}

Result<Parameter> parse_one(const std::string& name, const Json& json) {
  Parameter made;
  made.name = name;
  if (json.is_array()) {
    made.values.assign(json.begin(), json.end());
    return made.values.empty() ? Result<Parameter>(wrong(name, "has no values")) : made;
  }
  if (!json.is_object()) return wrong(name, "is neither a list of values nor a range {min, max}");
  for (const auto& [key, value] : json.items()) {
    constexpr std::string_view kKeys[] = {"min", "max", "log", "integer", "step", "steps", "values", "when"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return wrong(name, fmt::format("has the unknown member '{}'; known: min, max, log, integer, step, "
                                     "steps, values, when",
                                     key));
  }
  for (const auto& [other, values] : json::member(json, "when").items())
    made.when[other] = values.is_array() ? values.get<std::vector<Json>>() : std::vector<Json>{values};
  if (json.contains("values")) {
    if (!json["values"].is_array() || json["values"].empty()) return wrong(name, "has no values");
    made.values = json["values"].get<std::vector<Json>>();
    return made;
  }
  if (!json::member(json, "min").is_number() || !json::member(json, "max").is_number())
    return wrong(name, "needs `min` and `max`, or `values`");
  made.min = json::number_of(json, "min");
  made.max = json::number_of(json, "max");
  made.log = json::flag_of(json, "log");
  made.integer = json::flag_of(json, "integer");
  if (Status read = parse_steps(json, made); !read.ok()) return read;
  if (made.min > made.max) return wrong(name, "has a `min` above its `max`");
  if (made.log && made.min <= 0) return wrong(name, "has a logarithmic range, so `min` must be above 0");
  constexpr double kMostWhole = 1e15;
  if (made.integer && (std::ceil(made.min) > std::floor(made.max) || std::abs(made.min) > kMostWhole ||
                       std::abs(made.max) > kMostWhole))
    return wrong(name, "has a range without an integer, or beyond 1e15");
  return made;
}

// Of a range that has only some values: the first, the distance between two, and their number.
struct FewValues {
  double first, step, count;
};

std::optional<FewValues> values_of(const Parameter& parameter) {
  const bool steps = parameter.step > 0;
  if (parameter.is_choice() || (!steps && (!parameter.integer || parameter.log))) return std::nullopt;
  const double first = steps ? parameter.min : std::ceil(parameter.min);
  const double step = steps ? parameter.step : 1;
  return FewValues{first, step, std::floor((parameter.max - first) / step + 1e-9) + 1};
}

}  // namespace

Json Parameter::at(double position) const {
  position = std::clamp(position, 0.0, std::nextafter(1.0, 0.0));
  if (is_choice()) return values[static_cast<size_t>(position * static_cast<double>(values.size()))];
  if (auto few = values_of(*this)) return nearest(few->first + std::floor(position * few->count) * few->step);
  return nearest(log ? std::exp(std::log(min) + position * (std::log(max) - std::log(min)))
                     : min + position * (max - min));
}

Json Parameter::nearest(double number) const {
  if (auto few = values_of(*this)) {
    const double place = std::clamp(std::round((number - few->first) / few->step), 0.0, few->count - 1);
    number = few->first + place * few->step;
  }
  if (integer) return static_cast<int64_t>(std::clamp(std::round(number), std::ceil(min), std::floor(max)));
  return std::clamp(number, min, max);
}

double Parameter::position(const Json& value) const {
  if (is_choice()) {
    const auto place = std::find(values.begin(), values.end(), value) - values.begin();
    return (static_cast<double>(place) + 0.5) / static_cast<double>(values.size());
  }
  if (!value.is_number() || max <= min) return 0.5;
  const double number = value.get<double>();
  if (auto few = values_of(*this)) return (std::round((number - few->first) / few->step) + 0.5) / few->count;
  return log ? (std::log(number) - std::log(min)) / (std::log(max) - std::log(min))
             : (number - min) / (max - min);
}

bool Parameter::takes(const Json& value) const {
  if (is_choice()) return std::find(values.begin(), values.end(), value) != values.end();
  return value.is_number() && value.get<double>() >= min && value.get<double>() <= max;
}

bool Parameter::exists(const Json& chosen) const {
  return std::all_of(when.begin(), when.end(), [&](const auto& condition) {
    auto found = chosen.find(condition.first);
    return found != chosen.end() &&
           std::find(condition.second.begin(), condition.second.end(), *found) != condition.second.end();
  });
}

Result<Space> Space::parse(const Json& json) {
  if (!json.is_object() || json.empty()) return invalid("a search needs a space: name -> values or range");
  std::map<std::string, Parameter> left;
  for (const auto& [name, value] : json.items()) {
    auto one = parse_one(name, value);
    if (!one) return std::move(one).status();
    left.emplace(name, std::move(*one));
  }
  for (const auto& [name, parameter] : left) {
    for (const auto& [other, values] : parameter.when) {
      if (!left.contains(other))
        return wrong(name, fmt::format("depends on '{}', which does not exist", other));
    }
  }
  Space space;
  std::set<std::string> done;
  while (!left.empty()) {
    auto ready = std::find_if(left.begin(), left.end(), [&](const auto& each) {
      return std::all_of(each.second.when.begin(), each.second.when.end(),
                         [&](const auto& condition) { return done.contains(condition.first); });
    });
    if (ready == left.end()) return wrong(left.begin()->first, "depends on itself");
    done.insert(ready->first);
    space.parameters_.push_back(std::move(ready->second));
    left.erase(ready);
  }
  return space;
}

Json Space::known(const Json& values) const {
  Json made = Json::object();
  for (const Parameter& each : parameters_) {
    const Json& value = json::member(values, each.name);
    if (each.takes(value)) made[each.name] = each.is_choice() ? value : each.nearest(value.get<double>());
  }
  return made;
}

Json Space::values(const std::vector<double>& positions) const { return values(positions, Json::object()); }

Json Space::values(const std::vector<double>& positions, const Json& kept) const {
  Json made = Json::object();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (!parameter.exists(made)) continue;
    const Json& before = json::member(kept, parameter.name);
    if (!parameter.takes(before))
      made[parameter.name] = parameter.at(positions[i]);
    else
      made[parameter.name] = parameter.is_choice() ? before : parameter.nearest(before.get<double>());
  }
  return made;
}

std::vector<Json> Space::grid(size_t most) const {
  std::vector<Json> all = {Json::object()};
  for (const Parameter& parameter : parameters_) {
    std::vector<Json> values = parameter.values;
    const auto few = values_of(parameter);
    const int steps = parameter.steps > 0 || !few ? parameter.steps : static_cast<int>(few->count);
    for (int i = 0; i < steps && !parameter.is_choice(); ++i) {
      const double share = steps == 1 ? 0.5 : static_cast<double>(i) / (steps - 1);
      Json value = parameter.at(share);
      if (values.empty() || values.back() != value) values.push_back(std::move(value));
    }
    std::vector<Json> wider;
    for (const Json& chosen : all) {
      if (!parameter.exists(chosen)) {
        wider.push_back(chosen);
        continue;
      }
      for (const Json& value : values) {
        if (wider.size() >= most) break;
        wider.push_back(chosen);
        wider.back()[parameter.name] = value;
      }
    }
    all = std::move(wider);
  }
  return all;
}

}  // namespace radl::farm
