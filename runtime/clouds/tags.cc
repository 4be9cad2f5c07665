#include "runtime/clouds/tags.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "runtime/clouds/takes_over.h"

namespace radl {
namespace {

using Json = nlohmann::json;

Json tags_in(const Json& spec) {
  return spec.is_object() ? spec.value("tags", Json::object()) : Json::object();
}

}  // namespace

Json with_tags_of(const Json& asked, Json shown) {
  if (!shown.is_object() || !shown.contains("tags")) return shown;
  const Json names = tags_in(asked);
  Json own = Json::object();
  for (const auto& [name, value] : shown["tags"].items())
    if (names.contains(name)) own[name] = value;
  shown["tags"] = std::move(own);
  return shown;
}

Json with_tags_to_take_away(const Json& before, Json wanted) {
  const Json old = tags_in(before), asked = tags_in(wanted);
  for (const auto& [name, value] : old.items())
    if (!asked.contains(name)) wanted["tags"][name] = nullptr;
  return wanted;
}

bool is_tag_of(const std::string& tag, const std::string& name) {
  constexpr size_t kLineage = 8;
  if (tag.size() != name.size() + 1 + kLineage || !tag.starts_with(name + "-")) return false;
  return std::all_of(tag.end() - kLineage, tag.end(), [](unsigned char c) { return std::isxdigit(c); });
}

}  // namespace radl
