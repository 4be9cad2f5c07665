// Formats and parses times in UTC.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace radl {

inline constexpr const char* kUtc = "%Y-%m-%dT%H:%M:%SZ";  // "2026-11-21T02:54:11Z"

// Formats like strftime(3) in the C locale.
std::string utc_text(std::time_t time, const char* format = kUtc);
// Parses the start of a text by a format (strptime(3)) and ignores the rest. `rest` receives the rest's
// position.
std::optional<std::time_t> parse_utc(const std::string& text, const char* format = "%Y-%m-%dT%H:%M:%S",
                                     const char** rest = nullptr);

}  // namespace radl
