// One value for people.
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
    return is_size(field) ? size_text(value.get<double>()) : plain_number(value.get<double>());
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
