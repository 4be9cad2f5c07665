#include "engine/train/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/text.h"

namespace radl::engine {
namespace {

using Json = nlohmann::json;

std::string list_of(const std::vector<std::string_view>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

std::string number_text(double value) { return fmt::format("{:g}", value); }

// A bound as documentation shows it: "1048576", not "1.04858e+06".
std::string bound_text(double value) {
  return value == std::floor(value) && std::fabs(value) < 1e9 ? fmt::format("{:.0f}", value)
                                                              : number_text(value);
}

std::string range_text(std::string_view kind, const Range& range) {
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  if (low && high && !range.low_open)
    return fmt::format("{}, {} to {}", kind, bound_text(range.low), bound_text(range.high));
  std::string out(kind);
  if (low) out += fmt::format(", {} {}", range.low_open ? "above" : "at least", bound_text(range.low));
  if (high) out += fmt::format(", at most {}", bound_text(range.high));
  return out;
}

std::string names_text(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::string_view name : names) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", name);
  return out;
}

std::string preset_text(const std::string& text) { return text.empty() ? "none" : '"' + text + '"'; }

std::string place(std::string_view text, size_t byte) {
  size_t end = std::min(byte == 0 ? 0 : byte - 1, text.size());
  size_t line =
      1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<long>(end), '\n'));
  size_t start = text.substr(0, end).rfind('\n');
  size_t column = start == std::string_view::npos ? end + 1 : end - start;
  return fmt::format("{}:{}", line, column);
}

}  // namespace

Result<Json> parse_json_strict(std::string_view text, std::string_view file) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second &&
        twice.empty()) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    Json value = Json::parse(text.begin(), text.end(), watch);
    if (!twice.empty())
      return invalid(fmt::format("{}: key \"{}\" is given more than once in one object", file, twice));
    return value;
  } catch (const Json::parse_error& error) {
    return invalid(fmt::format("{}:{}: not JSON: {}", file, place(text, error.byte), error.what()));
  } catch (const Json::exception& error) {  // a number beyond what a double holds
    return invalid(fmt::format("{}: {}", file, error.what()));
  }
}

void Problems::add(const std::string& path, const std::string& what) { lines_.push_back(path + ": " + what); }

Status Problems::status(std::string_view file) const {
  if (lines_.empty()) return {};
  std::string text;
  for (const std::string& line : lines_)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", file, line);
  return invalid(text);
}

Fields::Fields(const Json& object, std::string path, Problems& problems)
    : object_(object), path_(std::move(path)), problems_(problems) {
  if (!object_.is_object()) problems_.add(path_.empty() ? "the file" : path_, "must be an object");
}

Fields::~Fields() {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string near = nearest(key, known_);
    problems_.add(path_of(key.c_str()),
                  near.empty() ? "unknown key" : fmt::format("unknown key; did you mean \"{}\"?", near));
  }
}

std::string Fields::path_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

bool Fields::has(const char* key) const { return object_.is_object() && object_.contains(key); }

const Json* Fields::find(const char* key) {
  known_.emplace_back(key);
  if (!object_.is_object()) return nullptr;
  auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

bool Fields::describe(const char* key, std::string values, std::string preset) {
  if (problems_.keys() == nullptr) return false;
  problems_.keys()->push_back({path_of(key), std::move(values), std::move(preset)});
  return true;
}

const Json* Fields::object(const char* key) {
  static const Json empty = Json::object();
  if (describe(key, "object", "none")) return &empty;
  const Json* value = find(key);
  if (value != nullptr && !value->is_object()) {
    problems_.add(path_of(key), "must be an object");
    return nullptr;
  }
  return value;
}

const Json* Fields::array(const char* key) {
  static const Json one = Json::array({Json::object()});
  if (describe(key, "list of objects", "none")) return &one;
  const Json* value = find(key);
  if (value != nullptr && !value->is_array()) {
    problems_.add(path_of(key), "must be a list");
    return nullptr;
  }
  return value;
}

void Fields::get(const char* key, std::string& out) {
  if (describe(key, "string", preset_text(out))) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return problems_.add(path_of(key), "must be a string");
  out = value->get<std::string>();
  if (out.find('\0') != std::string::npos) problems_.add(path_of(key), "must not hold a zero byte");
}

void Fields::get(const char* key, bool& out) {
  if (describe(key, "true, false", out ? "true" : "false")) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return problems_.add(path_of(key), "must be true or false");
  out = value->get<bool>();
}

std::optional<double> Fields::number(const Json& value, const std::string& path, const Range& range) {
  if (!value.is_number()) {
    problems_.add(path, "must be a number");
    return std::nullopt;
  }
  double v = value.get<double>();
  bool below = range.low_open ? !(v > range.low) : !(v >= range.low);
  if (!std::isfinite(v) || below || v > range.high) {
    std::string what = "must be a finite number";
    if (std::isfinite(range.low))
      what = fmt::format("must be {} {}", range.low_open ? "above" : "at least", number_text(range.low));
    if (std::isfinite(range.high)) what += fmt::format(" and at most {}", number_text(range.high));
    problems_.add(path, fmt::format("is {}, {}", number_text(v), what));
    return std::nullopt;
  }
  return v;
}

void Fields::get(const char* key, int64_t& out, Range range) {
  if (describe(key, range_text("integer", range), fmt::to_string(out))) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  std::optional<double> v = number(*value, path_of(key), range);
  if (!v) return;
  if (!value->is_number_integer()) {
    if (*v != std::floor(*v) || std::fabs(*v) > 9e15)
      return problems_.add(path_of(key), "must be an integer");
    out = static_cast<int64_t>(*v);
    return;
  }
  out = value->get<int64_t>();
}

void Fields::get(const char* key, int& out, Range range) {
  const std::string preset = out == std::numeric_limits<int>::min() ? "chosen" : fmt::to_string(out);
  if (describe(key, range_text("integer", range), preset)) return;
  int64_t wide = out;
  range.low = std::max(range.low, -2147483648.0);
  range.high = std::min(range.high, 2147483647.0);
  get(key, wide, range);
  out = static_cast<int>(wide);
}

void Fields::get(const char* key, uint64_t& out) {
  if (describe(key, "integer, at least 0", fmt::to_string(out))) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_number_unsigned()) return problems_.add(path_of(key), "must be an integer, at least 0");
  out = value->get<uint64_t>();
}

void Fields::get(const char* key, double& out, Range range) {
  if (describe(key, range_text("number", range), std::isfinite(out) ? number_text(out) : "chosen")) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (std::optional<double> v = number(*value, path_of(key), range)) out = *v;
}

void Fields::get(const char* key, std::vector<double>& out, Range range) {
  if (describe(key, range_text("list of numbers", range), out.empty() ? "[]" : "chosen")) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return problems_.add(path_of(key), "must be a list of numbers");
  out.clear();
  for (size_t i = 0; i < value->size(); ++i) {
    if (std::optional<double> v = number((*value)[i], fmt::format("{}[{}]", path_of(key), i), range))
      out.push_back(*v);
  }
}

void Fields::get(const char* key, std::vector<std::string>& out) {
  if (describe(key, "list of strings", "[]")) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return problems_.add(path_of(key), "must be a list of strings");
  out.clear();
  for (size_t i = 0; i < value->size(); ++i) {
    if ((*value)[i].is_string()) {
      out.push_back((*value)[i].get<std::string>());
    } else {
      problems_.add(fmt::format("{}[{}]", path_of(key), i), "must be a string");
    }
  }
}

void Fields::get_name(const char* key, const std::vector<std::string_view>& names, std::string& out) {
  if (describe(key, names_text(names), preset_text(out))) return;
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return problems_.add(path_of(key), "must be a string: " + list_of(names));
  std::string text = value->get<std::string>();
  if (std::find(names.begin(), names.end(), text) == names.end()) {
    std::string near = nearest(text, {names.begin(), names.end()});
    std::string hint = near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near);
    return problems_.add(path_of(key), fmt::format("\"{}\" is not one of {}{}", text, list_of(names), hint));
  }
  out = text;
}

void Fields::get_name(const char* key, const std::vector<std::string_view>& names, int& out) {
  if (describe(key, names_text(names), preset_text(std::string(names[static_cast<size_t>(out)])))) return;
  std::string text;
  get_name(key, names, text);
  auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) out = static_cast<int>(found - names.begin());
}

}  // namespace radl::engine
