// JSON that preserves the spelling of numbers and formats like Python's json.dumps (sorted keys, two spaces,
// ASCII). Only for RADL-JSON; all other code uses nlohmann::json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::sema {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { Null, Boolean, Number, String, List, Object } kind = Kind::Null;
  std::string text;             // String: decoded; Number: as written; Boolean: "true" or "false"
  uint32_t begin = 0, end = 0;  // position of a parsed value; of a list or object: of its opening bracket
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  // in order; among duplicate names, the last counts

  static JsonValue string(std::string_view text);
  static JsonValue number(std::string text);
  static JsonValue boolean(bool value);
  static JsonValue list();
  static JsonValue object();
  void set(std::string_view name, JsonValue value);
  void drop_replaced();                                // removes members replaced by a later duplicate
  const JsonValue* find(std::string_view name) const;  // the last of that name
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// Appends; `indent` is the column of the value.
void write_json(std::string& out, const JsonValue& value, int indent = 0);

struct JsonFault {
  size_t offset;
  std::string message;
};
// Accepts at most 200 levels of nesting.
std::optional<JsonFault> read_json(std::string_view text, JsonValue& value);

}  // namespace radl::sema
