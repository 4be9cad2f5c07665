// Text helpers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace radl {

std::string_view trim(std::string_view text);                                // ASCII spaces at both ends
std::vector<std::string_view> split(std::string_view text, char separator);  // "" gives one empty piece
std::string join(std::span<const std::string> pieces, std::string_view separator);
std::string to_lower(std::string_view text);  // ASCII only
bool equal_ignoring_case(std::string_view a, std::string_view b);
// "m5.large" by "m5.*": `*` matches any characters, and case does not matter.
bool matches_pattern(std::string_view text, std::string_view pattern);

// Number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
// Stops counting at `limit` + 1.
int edit_distance(std::string_view a, std::string_view b, int limit = 100);

// The candidate that is most likely a typo of `name`: its distance is at most a third of its length (at least
// one letter). The first of several equally near ones; nullopt if none is near. Ignores case.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// Same; "" if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

// 'a', 'b' or 'c'; at most `most` of them.
std::string one_of(std::span<const std::string_view> words, size_t most = 8);

}  // namespace radl
