// One value for people.
#include <fmt/format.h>

#include <cmath>

#include "runtime/plan/render.h"

namespace radl {

namespace {

std::string number_text(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

bool is_size(const std::string& field) {
  for (const char* word : {"memory", "size", "bytes"}) {
    if (field.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string size_text(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (std::fabs(bytes) >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", number_text(std::round(bytes * 100) / 100), kUnits[unit]);
}

std::string join_text(const Json& parts) {
  std::string text;
  for (const Json& part : parts) text += part.is_string() ? part.get<std::string>() : render_value(part);
  return "'" + text + "'";
}

}  // namespace

std::string render_value(const Json& value, const std::string& field) {
  if (value.is_null()) return "(none)";
  if (ir::is_unknown(value)) return "(known after apply: " + value.begin()->get<std::string>() + ")";
  if (ir::is_secret(value)) return "(sensitive)";
  if (ir::is_join(value)) return join_text(*value.begin());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number())
    return is_size(field) ? size_text(value.get<double>()) : number_text(value.get<double>());
  if (value.is_string()) return "'" + value.get<std::string>() + "'";
  std::string text;
  for (const auto& [key, inner] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += key + " ";
    text += render_value(inner, value.is_object() ? key : field);
  }
  return (value.is_array() ? "[" : "{") + text + (value.is_array() ? "]" : "}");
}

}  // namespace radl
