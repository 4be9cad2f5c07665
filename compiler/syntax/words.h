// The keywords of the grammars, read from bison's tables. No other list of keywords
// exists.
#pragma once

#include <string_view>
#include <vector>

namespace radl {

struct GrammarWord {
  std::string_view text;
  int token;          // of grammar/radl.yy or radl2.yy
  bool begins_block;  // the grammar accepts it at the start of a block
};

// All of them, in the grammar's order. RADL 1 (and EC3's dialect) reserves all its words.
const std::vector<GrammarWord>& radl1_words();
const std::vector<GrammarWord>& radl2_words();

// The grammar's name of a terminal: "system", "name".
std::string_view radl1_token_name(int token);
std::string_view radl2_token_name(int token);

// Null if `text` is not a grammar word.
const GrammarWord* find_word(const std::vector<GrammarWord>& words, std::string_view text);
bool is_reserved_in_radl1(std::string_view text);
bool begins_radl2_block(std::string_view text);
// Words that begin a block.
const std::vector<std::string_view>& radl1_blocks();
const std::vector<std::string_view>& radl2_blocks();

}  // namespace radl
