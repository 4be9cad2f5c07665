// Line-based differences of two texts, for plans, `fmt --diff` and formatting edits in editors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace radl {

// Lines [old_begin, old_end) become lines [new_begin, new_end), counted from 0.
struct LineChange {
  size_t old_begin = 0, old_end = 0;
  size_t new_begin = 0, new_end = 0;
  bool operator==(const LineChange&) const = default;
};

// Lines with their newline; the last may lack one. Views into `text`.
std::vector<std::string_view> split_lines(std::string_view text);

// In order, never adjacent. Minimal (Myers 1986) for similar texts. If thousands of lines differ, some
// unchanged lines may count as changed.
std::vector<LineChange> diff_lines(const std::vector<std::string_view>& before,
                                   const std::vector<std::string_view>& after);

// The hunks of `diff -u` with `context` unchanged lines around each change; "" if equal.
std::string diff_hunks(std::string_view before, std::string_view after, size_t context = 3);

// Same, with a header that names both sides. `patch` can read it.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name);

}  // namespace radl
