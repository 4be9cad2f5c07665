// The grammars' words (compiler/syntax/words.h) against what lists them for people: completion and the
// editors.
#include "compiler/syntax/words.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/files.h"
#include "tests/support/paths.h"
#include "tools/lsp/vocabulary.h"

namespace radl {
namespace {

using Names = std::set<std::string>;

Names names_of(const std::vector<GrammarWord>& words, bool blocks_only) {
  Names names;
  for (const GrammarWord& word : words)
    if (word.begins_block || !blocks_only) names.emplace(word.text);
  return names;
}

Names listed(const std::string& words) {
  std::istringstream in(words);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Words, ComeFromTheGrammars) {
  EXPECT_EQ(names_of(radl1_words(), false),
            listed("network ansible system soft and contains deploy configure contextualize step with option "
                   "description"));
  EXPECT_EQ(names_of(radl1_words(), true),
            listed("network ansible system deploy configure contextualize description"));
  EXPECT_EQ(names_of(radl2_words(), true),
            listed("radl description network system ansible input output let assert moved use each configure "
                   "deploy contextualize"));
  const Names all = names_of(radl2_words(), false);
  for (const char* word : {"as", "in", "option", "step", "after", "when", "if", "then", "for", "or", "not"})
    EXPECT_TRUE(all.contains(word)) << word;
  EXPECT_FALSE(all.contains("name"));
  EXPECT_TRUE(is_reserved_in_radl1("soft"));
  EXPECT_FALSE(is_reserved_in_radl1("input"));
}

TEST(Words, ThatBeginABlockAreOfferedByTheLanguageServer) {
  Names of_radl1, all;
  for (const lsp::BlockWord& word : lsp::block_words()) {
    all.emplace(word.name);
    if (!word.radl2) of_radl1.emplace(word.name);
  }
  Names expected = names_of(radl1_words(), true);
  expected.emplace("radl");  // as the first block it makes the file `radl 2`
  EXPECT_EQ(of_radl1, expected);
  EXPECT_EQ(all, names_of(radl2_words(), true));
}

TEST(Words, AreAllKnownToTheEditors) {
  for (const char* path : {"editors/vim/syntax/radl.vim", "editors/emacs/radl-mode.el",
                           "editors/vscode/syntaxes/radl.tmLanguage.json"}) {
    auto text = read_file(test::source_dir() + "/" + path);
    ASSERT_TRUE(text.ok()) << path;
    const Names known = [&] {
      std::string words;
      for (size_t i = 0; i < text->size(); ++i) {
        const char c = (*text)[i];
        if (c == '\\') i += (*text)[i + 1] == '\\' ? 2 : 1;  // `\\b` of JSON
        words += c < 'a' || c > 'z' ? ' ' : c;
      }
      return listed(words);
    }();
    for (const std::vector<GrammarWord>* words : {&radl1_words(), &radl2_words()})
      for (const GrammarWord& word : *words)
        EXPECT_TRUE(known.contains(std::string(word.text))) << path << " lacks " << word.text;
  }
}

}  // namespace
}  // namespace radl
