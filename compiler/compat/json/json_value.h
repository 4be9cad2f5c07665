// JSON that keeps numbers as they are written, and writes as Python's json.dumps does (sorted keys, two
// spaces, ASCII). Only for RADL-JSON: everything else uses nlohmann::json.
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
  uint32_t begin = 0, end = 0;  // of a value that was read: its place, of a list or object the opening sign
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  // in order; of duplicate names the later one holds

  static JsonValue string(std::string_view text);
  static JsonValue number(std::string text);
  static JsonValue boolean(bool value);
  static JsonValue list();
  static JsonValue object();
  void set(std::string_view name, JsonValue value);
  void drop_replaced();                                // members that a later one of the same name replaces
  const JsonValue* find(std::string_view name) const;  // the last
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
// At most 200 levels deep.
std::optional<JsonFault> read_json(std::string_view text, JsonValue& value);

}  // namespace radl::sema
