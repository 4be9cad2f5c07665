// Values of JSON that somebody else wrote: of the kind that is asked for, or nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace radl::json {

// null if the text is not JSON, or is nested deeper than any service's answer.
nlohmann::json parse_json(std::string_view text);
// A member of an object; null where it is none, or has none of that name.
const nlohmann::json& member(const nlohmann::json& object, const std::string& name);
// The elements of a list; empty if the value is not a list.
const nlohmann::json& list_of(const nlohmann::json& object, const std::string& name);
// A text; "" where it is none.
std::string text_of(const nlohmann::json& object, const std::string& name);
// A finite number; `otherwise` where it is none.
double number_of(const nlohmann::json& object, const std::string& name, double otherwise = 0);
bool flag_of(const nlohmann::json& object, const std::string& name, bool otherwise = false);

// JSON has no number that is infinite or not a number. Radl writes such a number as Protocol Buffers does, as
// one of the texts "NaN", "Infinity" and "-Infinity". Replaces all of them within the value, before dump().
void spell_non_finite(nlohmann::json& value);
void spell_non_finite(nlohmann::ordered_json& value);
// The number, from one of those texts too; null, as which dump() writes them alone, reads as NaN. Nothing if
// the value is none of these.
std::optional<double> read_number(const nlohmann::json& value);
std::optional<double> read_number(const nlohmann::ordered_json& value);

}  // namespace radl::json
