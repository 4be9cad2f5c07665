#include "runtime/clouds/tags.h"

#include <nlohmann/json.hpp>

namespace radl {
namespace {

using nlohmann::json;

json tags_in(const json& spec) {
  return spec.is_object() ? spec.value("tags", json::object()) : json::object();
}

}  // namespace

json with_tags_of(const json& asked, json shown) {
  if (!shown.is_object() || !shown.contains("tags")) return shown;
  const json names = tags_in(asked);
  json own = json::object();
  for (const auto& [name, value] : shown["tags"].items())
    if (names.contains(name)) own[name] = value;
  shown["tags"] = std::move(own);
  return shown;
}

json with_tags_to_take_away(const json& before, json wanted) {
  const json old = tags_in(before), asked = tags_in(wanted);
  for (const auto& [name, value] : old.items())
    if (!asked.contains(name)) wanted["tags"][name] = nullptr;
  return wanted;
}

}  // namespace radl
