#include "common/json_values.h"

#include <cmath>

namespace radl::json {
namespace {

using Json = nlohmann::json;
constexpr int kDeepest = 64;

}  // namespace

Json parse_json(std::string_view text) {
  bool too_deep = false;
  auto limit = [&](int depth, Json::parse_event_t, Json&) {
    too_deep |= depth > kDeepest;
    return !too_deep;
  };
  Json parsed = Json::parse(text, limit, false);
  return too_deep || parsed.is_discarded() ? Json() : parsed;
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

}  // namespace radl::json
