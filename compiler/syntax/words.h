// The words of the grammars, read from the tables that bison makes of them: there is no other list of
// keywords.
#pragma once

#include <string_view>
#include <vector>

namespace radl {

struct GrammarWord {
  std::string_view text;
  int token;          // of grammar/radl.yy or radl2.yy
  bool begins_block;  // the grammar takes it where a block may begin
};

// All of them, in the order of the grammar. RADL 1 (and EC3's dialect) reserves all of its words.
const std::vector<GrammarWord>& radl1_words();
const std::vector<GrammarWord>& radl2_words();

// The grammar's name of a terminal: "system", "name".
std::string_view radl1_token_name(int token);
std::string_view radl2_token_name(int token);

// Null for any other text.
const GrammarWord* find_word(const std::vector<GrammarWord>& words, std::string_view text);
bool is_reserved_in_radl1(std::string_view text);
bool begins_radl2_block(std::string_view text);
// The words that begin a block.
const std::vector<std::string_view>& radl1_blocks();
const std::vector<std::string_view>& radl2_blocks();

}  // namespace radl
