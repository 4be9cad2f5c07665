#include "runtime/farm/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr int kMostSteps = 100000;

Status wrong(const std::string& name, std::string_view why) {
  return invalid(fmt::format("parameter '{}' {}", name, why));
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
    constexpr std::string_view kKeys[] = {"min", "max", "log", "integer", "steps", "values", "when"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return wrong(name, fmt::format("has the unknown member '{}'; known: min, max, log, integer, steps, "
                                     "values, when",
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
  const double steps = json::number_of(json, "steps", 3);
  if (steps < 1 || steps > kMostSteps)
    return wrong(name, fmt::format("needs from 1 to {} steps", kMostSteps));
  made.steps = static_cast<int>(steps);
  if (made.min > made.max) return wrong(name, "has a `min` above its `max`");
  if (made.log && made.min <= 0) return wrong(name, "has a logarithmic range, so `min` must be above 0");
  constexpr double kMostWhole = 1e15;
  if (made.integer && (std::ceil(made.min) > std::floor(made.max) || std::abs(made.min) > kMostWhole ||
                       std::abs(made.max) > kMostWhole))
    return wrong(name, "has a range without a whole number, or beyond 1e15");
  return made;
}

}  // namespace

Json Parameter::at(double position) const {
  position = std::clamp(position, 0.0, std::nextafter(1.0, 0.0));
  if (is_choice()) return values[static_cast<size_t>(position * static_cast<double>(values.size()))];
  if (integer && !log) {
    const double count = std::floor(max) - std::ceil(min) + 1;
    return static_cast<int64_t>(std::ceil(min) + std::floor(position * count));
  }
  const double value = log ? std::exp(std::log(min) + position * (std::log(max) - std::log(min)))
                           : min + position * (max - min);
  if (integer) return static_cast<int64_t>(std::clamp(std::round(value), std::ceil(min), std::floor(max)));
  return value;
}

double Parameter::position(const Json& value) const {
  if (is_choice()) {
    const auto place = std::find(values.begin(), values.end(), value) - values.begin();
    return (static_cast<double>(place) + 0.5) / static_cast<double>(values.size());
  }
  if (!value.is_number() || max <= min) return 0.5;
  const double number = value.get<double>();
  if (integer && !log) return (number - std::ceil(min) + 0.5) / (std::floor(max) - std::ceil(min) + 1);
  return log ? (std::log(number) - std::log(min)) / (std::log(max) - std::log(min))
             : (number - min) / (max - min);
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

Json Space::values(const std::vector<double>& positions) const {
  Json made = Json::object();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].exists(made)) made[parameters_[i].name] = parameters_[i].at(positions[i]);
  }
  return made;
}

std::vector<Json> Space::grid(size_t most) const {
  std::vector<Json> all = {Json::object()};
  for (const Parameter& parameter : parameters_) {
    std::vector<Json> values = parameter.values;
    for (int i = 0; i < parameter.steps && !parameter.is_choice(); ++i) {
      const double share = parameter.steps == 1 ? 0.5 : static_cast<double>(i) / (parameter.steps - 1);
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
