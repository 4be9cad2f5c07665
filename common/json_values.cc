#include "common/json_values.h"

#include <cmath>
#include <limits>

#include "common/json_depth.h"

namespace radl::json {
namespace {

using Json = nlohmann::json;
constexpr int kDeepest = 64;
constexpr std::string_view kNan = "NaN", kInfinity = "Infinity", kMinusInfinity = "-Infinity";

template <class J>
void spell(J& value) {
  if (value.is_structured()) {
    for (J& part : value) spell(part);
  } else if (value.is_number_float()) {
    const double number = value.template get<double>();
    if (!std::isfinite(number)) value = std::isnan(number) ? kNan : number > 0 ? kInfinity : kMinusInfinity;
  }
}

template <class J>
std::optional<double> number(const J& value) {
  if (value.is_number()) return value.template get<double>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.template get_ref<const std::string&>();
  if (text == kNan) return std::numeric_limits<double>::quiet_NaN();
  if (text == kInfinity) return std::numeric_limits<double>::infinity();
  if (text == kMinusInfinity) return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace

Json parse_json(std::string_view text) {
  if (json_shape(text).depth > kDeepest) return {};
  Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json() : parsed;
}

const Json& member(const Json& object, const std::string& name) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

const Json& list_of(const Json& object, const std::string& name) {
  static const Json empty = Json::array();
  const Json& found = member(object, name);
  return found.is_array() ? found : empty;
}

std::string text_of(const Json& object, const std::string& name) {
  const Json& found = member(object, name);
  return found.is_string() ? found.get<std::string>() : "";
}

double number_of(const Json& object, const std::string& name, double otherwise) {
  const Json& found = member(object, name);
  if (!found.is_number()) return otherwise;
  const double number = found.get<double>();
  return std::isfinite(number) ? number : otherwise;
}

bool flag_of(const Json& object, const std::string& name, bool otherwise) {
  const Json& found = member(object, name);
  return found.is_boolean() ? found.get<bool>() : otherwise;
}

void spell_non_finite(nlohmann::json& value) { spell(value); }
void spell_non_finite(nlohmann::ordered_json& value) { spell(value); }
std::optional<double> read_number(const nlohmann::json& value) { return number(value); }
std::optional<double> read_number(const nlohmann::ordered_json& value) { return number(value); }

}  // namespace radl::json
