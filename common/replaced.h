// Replaces parts of a text.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The text with `by` wherever it has `what`, which is not empty. What was inserted is not searched again.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace radl
