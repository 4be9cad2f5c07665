// Times as texts, in UTC.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace radl {

inline constexpr const char* kUtc = "%Y-%m-%dT%H:%M:%SZ";  // "2026-11-21T02:54:11Z"

// As strftime(3) in the C locale writes it.
std::string utc_text(std::time_t time, const char* format = kUtc);
// What a text that begins so says (strptime(3)); what follows the format does not count. `rest`: gets where
// that begins.
std::optional<std::time_t> parse_utc(const std::string& text, const char* format = "%Y-%m-%dT%H:%M:%S",
                                     const char** rest = nullptr);

}  // namespace radl
