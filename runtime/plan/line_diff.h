// A small unified diff of two texts by lines. Internal to runtime/plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl {

// "-old", "+new", " same", and "..." where equal lines are left out; `context` equal lines around each
// change. Empty when equal. Texts of very many lines that differ in the middle come as one block of - and one
// of +.
std::vector<std::string> line_diff(std::string_view before, std::string_view after, size_t context = 2);

}  // namespace radl
