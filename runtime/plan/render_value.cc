// One value for people.
#include <fmt/format.h>

#include "common/human.h"
#include "runtime/plan/render.h"

namespace radl {

namespace {

bool is_size(const std::string& field) {
  for (const char* word : {"memory", "size", "bytes"}) {
    if (field.find(word) != std::string::npos) return true;
  }
  return false;
}

// Every digit of an integer: it may be a number of an account or a time in nanoseconds.
std::string number_text(const Json& value) {
  return value.is_number_integer() ? value.dump() : fmt::format("{:.15g}", value.get<double>());
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
  if (value.is_number()) return is_size(field) ? size_text(value.get<double>()) : number_text(value);
  if (value.is_string()) return "'" + value.get<std::string>() + "'";
  std::string text;
  for (const auto& [key, inner] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += key + " = ";
    // The keys of an output's own map say nothing about the units of its values.
    text += render_value(inner, value.is_object() && !field.empty() ? key : field);
  }
  return (value.is_array() ? "[" : "{") + text + (value.is_array() ? "]" : "}");
}

}  // namespace radl
