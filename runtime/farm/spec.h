// What a task runs: a JSON object that the farm itself does not interpret.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace radl::farm {

using Json = nlohmann::json;

// A value whose copies share one object. If it was given as text, the text is parsed when somebody needs the
// object: a farm has many tasks, and most readers look at the object of few.
class Spec {
 public:
  Spec();                             // an empty object
  Spec(Json json);                    // NOLINT(google-explicit-constructor)
  Spec(Json::initializer_list_t of);  // as Json(of)
  // The text is JSON, and `whole` holds it.
  Spec(std::shared_ptr<const std::string> whole, std::string_view text);

  const Json& json() const;
  operator const Json&() const { return json(); }  // NOLINT(google-explicit-constructor)
  bool contains(const char* member) const { return json().contains(member); }
  const Json& operator[](const char* member) const { return json().at(member); }
  void set(const std::string& member, Json value);
  std::string text() const;
  bool operator==(const Spec& other) const { return held_ == other.held_ || json() == other.json(); }

 private:
  struct Held;
  std::shared_ptr<Held> held_;
};
inline void to_json(Json& json, const Spec& spec) { json = spec.json(); }

}  // namespace radl::farm
