#include "compiler/syntax/words.h"

#include <algorithm>

namespace radl {

const GrammarWord* find_word(const std::vector<GrammarWord>& words, std::string_view text) {
  auto found =
      std::find_if(words.begin(), words.end(), [&](const GrammarWord& word) { return word.text == text; });
  return found == words.end() ? nullptr : &*found;
}

bool is_reserved_in_radl1(std::string_view text) { return find_word(radl1_words(), text) != nullptr; }

bool begins_radl2_block(std::string_view text) {
  const GrammarWord* word = find_word(radl2_words(), text);
  return word != nullptr && word->begins_block;
}

namespace {

std::vector<std::string_view> blocks_of(const std::vector<GrammarWord>& words) {
  std::vector<std::string_view> blocks;
  for (const GrammarWord& word : words)
    if (word.begins_block) blocks.push_back(word.text);
  return blocks;
}

}  // namespace

const std::vector<std::string_view>& radl1_blocks() {
  static const std::vector<std::string_view> blocks = blocks_of(radl1_words());
  return blocks;
}

const std::vector<std::string_view>& radl2_blocks() {
  static const std::vector<std::string_view> blocks = blocks_of(radl2_words());
  return blocks;
}

}  // namespace radl
