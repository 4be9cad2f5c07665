// Tokens of RADL 1 as the rules of grammar/radl.ll give them.
#include "compiler/syntax/scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/syntax/unicode.h"

namespace radl {
namespace {

using Seen = std::vector<std::tuple<RawKind, uint32_t, uint32_t>>;

Seen tokens_of(std::string_view text) {
  Seen seen;
  Scanner scanner(text, false);
  for (RawToken raw = scanner.next(); raw.kind != RawKind::End; raw = scanner.next())
    seen.emplace_back(raw.kind, raw.begin, raw.end);
  return seen;
}

TEST(Unicode, ClassesOfCharactersAreThoseOfPython) {
  EXPECT_TRUE(is_word_character(0xE9) && is_word_character(0x65E5) && is_word_character(0xB2));
  EXPECT_FALSE(is_word_character(0x20AC) || is_word_character(0x300));
  EXPECT_TRUE(is_upper_case(0xC9) && is_upper_case(0x2160) && is_upper_case(0x24B6));
  EXPECT_FALSE(is_upper_case(0xE9) || is_upper_case(0x2170));
  EXPECT_EQ(digit_value(0x663), 3);
  EXPECT_EQ(digit_value(0x1D7FF), 9);  // the last of five runs of digits
  EXPECT_EQ(digit_value(0x2460), -1);
}

TEST(Scanner, KnowsWhatALetterOfAnotherScriptDoesToWordsAndNumbers) {
  const std::pair<std::string_view, std::vector<std::pair<RawKind, std::string_view>>> cases[] = {
      {"syst\xC3\xA9m", {{RawKind::Name, "syst\xC3\xA9m"}}},
      {"12\xD9\xA3", {{RawKind::Number, "12\xD9\xA3"}}},
      {"1.\xD9\xA3", {{RawKind::Number, "1.\xD9\xA3"}}},
      {"and\xE2\x82\xAC", {{RawKind::Name, "and"}, {RawKind::Junk, "\xE2\x82\xAC"}}},
      {"1.2.3", {{RawKind::Number, "1.2"}, {RawKind::Name, ".3"}}},
      {"-a", {{RawKind::Junk, "-"}, {RawKind::Name, "a"}}},
      {"4-", {{RawKind::Number, "4"}, {RawKind::Junk, "-"}}},
      {"andy and", {{RawKind::Name, "andy"}, {RawKind::And, "and"}}},
      {"<= (<=", {{RawKind::Junk, "<"}, {RawKind::Junk, "="}, {RawKind::Open, "("}, {RawKind::Le, "<="}}},
      {"@begin@end", {{RawKind::EmptyRecipe, "@begin@end"}}},
      {"@begin\nx", {{RawKind::OpenRecipe, "@begin\nx"}}},
      {"'a\\'b'", {{RawKind::Text, "'a\\'b'"}}},
      {"'random(3)'", {{RawKind::Random, "'random(3)'"}}},
      {"'\\", {{RawKind::Junk, "'"}, {RawKind::Junk, "\\"}}},
      {std::string_view("a\0b", 3),
       {{RawKind::Name, "a"}, {RawKind::Junk, std::string_view("\0", 1)}, {RawKind::Name, "b"}}},
      {"# x\n#\n", {{RawKind::Comment, "# x"}, {RawKind::Comment, "#"}}},
      {"", {}},
  };
  for (const auto& [text, expected] : cases) {
    std::vector<std::pair<RawKind, std::string_view>> found;
    for (const auto& [kind, begin, end] : tokens_of(text))
      found.emplace_back(kind, text.substr(begin, end - begin));
    EXPECT_EQ(found, expected) << text;
  }
}

// Going back, as repairs do, gives the tokens once more.
TEST(Scanner, GoesBackToAPlaceItHasRead) {
  std::string text = "system a (\n";
  for (int i = 0; i < 600; ++i) text += "  cpu.count = 'x' and # why\n";
  text += ")";
  Scanner scanner(text, false);
  for (int i = 0; i < 700; ++i) scanner.next();
  scanner.seek(9, 0);
  Seen rest;
  for (RawToken raw = scanner.next(); raw.kind != RawKind::End; raw = scanner.next())
    rest.emplace_back(raw.kind, raw.begin, raw.end);
  Seen all = tokens_of(text);
  ASSERT_EQ(rest.size() + 2, all.size());
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin() + 2));
}

}  // namespace
}  // namespace radl
