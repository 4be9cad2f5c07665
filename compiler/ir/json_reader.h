// One object of an IR document, field by field.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "compiler/ir/ir.h"

namespace radl::ir {

// Reads one object; remembers the first complaint of the whole document.
class JsonReader {
 public:
  JsonReader(const Json& json, std::string path, Status& status)
      : json_(json), path_(std::move(path)), status_(status) {
    if (!json_.is_object()) complain("", "expected an object");
  }

  bool has(const char* key) {
    seen_.insert(key);
    return json_.is_object() && json_.contains(key);
  }

  std::string text(const char* key, bool required = false) {
    const Json* value = get(key, required);
    if (value == nullptr) return {};
    if (!value->is_string()) return complain(key, "expected a string"), std::string();
    return value->get<std::string>();
  }

  double number(const char* key, double fallback) {
    const Json* value = get(key, false);
    if (value == nullptr) return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
      return complain(key, "expected a number"), fallback;
    return value->get<double>();
  }

  std::optional<double> optional_number(const char* key) {
    if (!has(key)) return std::nullopt;
    return number(key, 0);
  }

  int integer(const char* key, int fallback, bool required = false) {
    const Json* value = get(key, required);
    if (value == nullptr) return fallback;
    if (!value->is_number_integer()) return complain(key, "expected an integer"), fallback;
    if (value->is_number_unsigned()
            ? value->get<uint64_t>() > INT32_MAX
            : value->get<int64_t>() < INT32_MIN || value->get<int64_t>() > INT32_MAX) {
      return complain(key, "is out of range"), fallback;
    }
    return value->get<int>();
  }

  bool boolean(const char* key, bool fallback) {
    const Json* value = get(key, false);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) return complain(key, "expected true or false"), fallback;
    return value->get<bool>();
  }

  Json object(const char* key) {
    const Json* value = get(key, false);
    if (value == nullptr) return Json::object();
    if (!value->is_object()) return complain(key, "expected an object"), Json::object();
    return *value;
  }

  Json any(const char* key) {
    const Json* value = get(key, true);
    return value == nullptr ? Json() : *value;
  }

  std::map<std::string, Json> values(const char* key) {
    std::map<std::string, Json> result;
    Json held = object(key);
    for (auto& [name, value] : held.items()) result.emplace(name, std::move(value));
    return result;
  }

  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> result;
    each(key, [&](const Json& item, const std::string& path) {
      if (!item.is_string()) return fail(path, "expected a string");
      result.push_back(item.get<std::string>());
    });
    return result;
  }

  // Calls `read(item, path)` for each element of a list.
  template <class Read>
  void each(const char* key, Read read, bool required = false) {
    const Json* value = get(key, required);
    if (value == nullptr) return;
    if (!value->is_array()) return complain(key, "expected a list");
    for (size_t i = 0; i < value->size() && status_.ok(); i++)
      read((*value)[i], fmt::format("{}[{}]", at(key), i));
  }

  template <class T, class Read>
  std::vector<T> list(const char* key, Read read, bool required = false) {
    std::vector<T> result;
    each(
        key,
        [&](const Json& item, const std::string& path) {
          result.push_back(read(JsonReader(item, path, status_)));
        },
        required);
    return result;
  }

  // To be called when all fields were asked for.
  void finish() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (!seen_.contains(key)) return complain(key.c_str(), "is not a field of this version");
    }
  }

  void complain(const char* key, std::string_view what) { fail(at(key), what); }
  JsonReader inner(const Json& json, std::string path) const {
    return JsonReader(json, std::move(path), status_);
  }
  std::string at(const char* key) const {
    if (*key == 0) return path_.empty() ? "IR" : path_;
    return path_.empty() ? key : path_ + "." + key;
  }

 private:
  void fail(const std::string& path, std::string_view what) {
    if (status_.ok()) status_ = invalid(fmt::format("{}: {}", path, what));
  }

  const Json* get(const char* key, bool required) {
    seen_.insert(key);
    if (!json_.is_object()) return nullptr;
    auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    if (required) complain(key, "is missing");
    return nullptr;
  }

  const Json& json_;
  std::string path_;
  Status& status_;
  std::set<std::string> seen_;
};

}  // namespace radl::ir
