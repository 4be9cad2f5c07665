// Accessors for untrusted JSON: the value if it has the expected type, else a default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace radl::json {

// null if the text is not JSON or is nested deeper than any real response.
nlohmann::json parse_json(std::string_view text);
// A member of an object; null if `object` is not an object or lacks the member.
const nlohmann::json& member(const nlohmann::json& object, const std::string& name);
// The elements of a list; empty if the value is not a list.
const nlohmann::json& list_of(const nlohmann::json& object, const std::string& name);
// A string; "" if the value is not a string.
std::string text_of(const nlohmann::json& object, const std::string& name);
// A finite number; `otherwise` if the value is not one.
double number_of(const nlohmann::json& object, const std::string& name, double otherwise = 0);
bool flag_of(const nlohmann::json& object, const std::string& name, bool otherwise = false);

// JSON cannot represent infinities and NaN. Replaces each in the value with the text "NaN", "Infinity" or
// "-Infinity", as Protocol Buffers does. Call before dump().
void spell_non_finite(nlohmann::json& value);
void spell_non_finite(nlohmann::ordered_json& value);
// Reads a number or one of those texts. Reads null, which dump() writes for all three, as NaN. nullopt for
// any other value.
std::optional<double> read_number(const nlohmann::json& value);
std::optional<double> read_number(const nlohmann::ordered_json& value);

}  // namespace radl::json
