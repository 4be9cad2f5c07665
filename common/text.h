// Small helpers for text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl {

// Edits (insert, delete, replace, swap neighbours) that turn one word into the other; `limit` + 1 when more
// are needed.
int edit_distance(std::string_view from, std::string_view to, int limit);

// The name that `word` was probably meant to be: at most a third of its letters differ, ASCII case ignored.
// "" when none is near; the first of several that are equally near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace radl
