// Unified diff of two texts.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// As `diff -u` prints it, three lines of context, without the two header lines; empty when equal. Texts that
// are not text, or very large, give one line that says so.
std::string unified_diff(std::string_view before, std::string_view after);

}  // namespace radl
