// The words that begin a block of a `radl 2` file.
#pragma once

#include <algorithm>
#include <string_view>

namespace radl {

inline constexpr std::string_view kBlockWords[] = {
    "radl",   "description", "network", "system", "ansible",   "input",  "output",       "let",
    "assert", "moved",       "use",     "each",   "configure", "deploy", "contextualize"};

inline bool is_block_word(std::string_view word) {
  return std::find(std::begin(kBlockWords), std::end(kBlockWords), word) != std::end(kBlockWords);
}

}  // namespace radl
