// The parser's knowledge of the end of a text that is still being written: what was read, and what may
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
  // What contains the end, if it is not between two tokens. Open: an unclosed string without ${
  // }.
  enum class Inside : uint8_t { Tokens, OpenText, Comment, Recipe } inside = Inside::Tokens;
  uint32_t quote = 0;           // of an OpenText
  std::vector<Symbol> symbols;  // without what recovery skipped; a SYNC replaces it
  std::vector<std::string_view>
      expected;  // names of terminals that may follow; for an OpenText: may replace it
};

// Parses the text, which starts where a block may begin, like parse(), with the same error recovery, and
// stops at its end.
TextEnd read_end(const SourceFile& source, bool radl2);

}  // namespace radl
