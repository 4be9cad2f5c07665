// Program -> JSON. Fields that are empty or have their default are left out; json_read.cc gives them back.
#include <nlohmann/json.hpp>

#include "compiler/ir/json_fields.h"

namespace radl::ir {

std::string_view step_kind_name(StepKind kind) {
  static constexpr std::string_view names[] = {"native",   "ansible", "cloud_init",
                                               "training", "program", "barrier"};
  static_assert(std::size(names) == static_cast<size_t>(StepKind::Barrier) + 1);
  return names[static_cast<size_t>(kind)];
}

namespace {

class Writer {
 public:
  template <class T>
  static Json write(const T& value) {
    if constexpr (requires(Writer & all) { fields(all, value); }) {
      Writer inner;
      inner.json = Json::object();
      fields(inner, value);
      return std::move(inner.json);
    } else {
      return value;
    }
  }
  template <class T>
  static Json write(const std::vector<T>& items) {
    Json array = Json::array();
    for (const T& item : items) array.push_back(write(item));
    return array;
  }
  template <class T>
  static Json write(const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = write(value);
    return object;
  }
  static Json write(const JsonBox& value) { return *value; }
  static Json write(StepKind kind) { return step_kind_name(kind); }

  template <class T>
  void must(const char* key, const T& value) {
    json[key] = write(value);
  }
  template <class T>
  void always(const char* key, const T& value) {
    json[key] = write(value);
  }
  template <class T>
  void given(const char* key, const T& value) {
    if (!value.empty()) json[key] = write(value);
  }
  template <class T>
  void given(const char* key, const std::optional<T>& value) {
    if (value) json[key] = *value;
  }
  void given(const char* key, bool value, bool fallback = false) {
    if (value != fallback) json[key] = value;
  }
  void given(const char* key, int value) {
    if (value != 0) json[key] = value;
  }
  void given(const char* key, const JsonBox& value) {
    if (value) json[key] = *value;
  }
  void given(const char* key, const Origin& origin) {
    if (!origin.path.empty() || origin.line != 0) json[key] = write(origin);
  }
  void object(const char* key, const JsonBox& value) {
    if (!value->empty()) json[key] = *value;
  }

  Json json;
};

}  // namespace

Json to_json(const Program& program) {
  Json json = Writer::write(program);
  json["ir"] = program.version;
  return json;
}

}  // namespace radl::ir
