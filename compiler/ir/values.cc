// Boxes of JSON, and values that stand for something else: unknown, secret, joined.
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/ir/ir.h"

namespace radl::ir {

Json* JsonBox::held(const Json& json) { return new Json(json); }
Json* JsonBox::held(Json&& json) { return new Json(std::move(json)); }
Json* JsonBox::held(std::string_view text) { return new Json(text); }
JsonBox::JsonBox(const JsonBox& other) : json_(other.json_ == nullptr ? nullptr : new Json(*other.json_)) {}
JsonBox::~JsonBox() { delete json_; }
JsonBox JsonBox::object() { return Json::object(); }

const Json& JsonBox::operator*() const {
  static const Json null;
  return json_ == nullptr ? null : *json_;
}

Json& JsonBox::operator*() {
  if (json_ == nullptr) json_ = new Json();
  return *json_;
}

const Json& JsonBox::operator[](std::string_view key) const {
  static const Json null;
  const auto found = (*this)->find(key);
  return found == (*this)->end() ? null : *found;
}

Json& JsonBox::operator[](std::string_view key) { return (**this)[std::string(key)]; }

bool operator==(const JsonBox& a, const Json& b) { return *a == b; }

namespace {

bool is_marked(const Json& value, const char* mark) {
  return value.is_object() && value.size() == 1 && value.begin().key() == mark;
}

void collect(const Json& value, const char* mark, std::set<std::string>& found) {
  if (is_marked(value, mark) && value.begin()->is_string()) {
    found.insert(value.begin()->get<std::string>());
    return;
  }
  if (value.is_structured()) {
    for (const Json& inner : value) collect(inner, mark, found);
  }
}

std::vector<std::string> collect_step(const Step& step, const char* mark) {
  std::set<std::string> found;
  for (const Resource& resource : step.resources) collect(resource.properties, mark, found);
  collect(step.training, mark, found);
  collect(step.program, mark, found);
  return {found.begin(), found.end()};
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// Joins neighbouring known strings; one known text alone is no join any more.
Json join(const Json& parts) {
  Json joined = Json::array();
  for (const Json& part : parts) {
    if (is_unknown(part) || is_secret(part)) {
      joined.push_back(part);
    } else if (!joined.empty() && joined.back().is_string()) {
      joined.back() = joined.back().get<std::string>() + text_of(part);
    } else {
      joined.push_back(text_of(part));
    }
  }
  if (joined.empty()) return "";
  if (joined.size() == 1 && joined[0].is_string()) return joined[0];
  return Json{{"$join", std::move(joined)}};
}

}  // namespace

bool is_unknown(const Json& value) { return is_marked(value, "$unknown"); }
bool is_secret(const Json& value) { return is_marked(value, "$secret"); }
bool is_join(const Json& value) { return is_marked(value, "$join"); }
Json unknown(std::string attribute) { return Json{{"$unknown", std::move(attribute)}}; }
Json secret(std::string name) { return Json{{"$secret", std::move(name)}}; }

std::vector<std::string> unknowns_in(const Json& value) {
  std::set<std::string> found;
  collect(value, "$unknown", found);
  return {found.begin(), found.end()};
}

std::vector<std::string> secrets_in(const Json& value) {
  std::set<std::string> found;
  collect(value, "$secret", found);
  return {found.begin(), found.end()};
}

std::vector<std::string> unknowns_in(const Step& step) { return collect_step(step, "$unknown"); }
std::vector<std::string> secrets_in(const Step& step) { return collect_step(step, "$secret"); }

Json substitute(const Json& value, const LookUp& unknown_value, const LookUp& secret_value) {
  bool unknown_mark = is_unknown(value);
  if (unknown_mark || is_secret(value)) {
    const Json& name = *value.begin();
    const LookUp& look_up = unknown_mark ? unknown_value : secret_value;
    if (!name.is_string() || !look_up) return value;
    return look_up(name.get<std::string>()).value_or(value);
  }
  if (is_join(value)) {
    Json parts = Json::array();
    for (const Json& part : *value.begin()) parts.push_back(substitute(part, unknown_value, secret_value));
    return join(parts);
  }
  if (!value.is_structured()) return value;
  Json result = value;
  for (Json& inner : result) inner = substitute(inner, unknown_value, secret_value);
  return result;
}

}  // namespace radl::ir
