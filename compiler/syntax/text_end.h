// What the grammar knows of the end of a text that is still being written: what was read, and what may
// follow.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/source/source.h"

namespace radl {

struct TextEnd {
  struct Symbol {
    std::string_view name;  // of the terminal, as the grammar writes it: "system", "name", "( of a body"
    Span span;
  };
  // What the end lies in, if not between two tokens. Open: a string that nothing closes and that holds no ${
  // }.
  enum class Inside : uint8_t { Tokens, OpenText, Comment, Recipe } inside = Inside::Tokens;
  uint32_t quote = 0;           // of an OpenText
  std::vector<Symbol> symbols;  // less what was skipped after a mistake: a SYNC stands for it
  std::vector<std::string_view>
      expected;  // names of the terminals that may follow; of an OpenText: in its place
};

// Reads the text, which begins where a block may, as parse() does, with the same recovery, and stops at its
// end.
TextEnd read_end(const SourceFile& source, bool radl2);

}  // namespace radl
