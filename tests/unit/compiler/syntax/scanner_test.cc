// The scanner reads most tokens without its rules (compiler/syntax/plain_tokens.cc): what comes of it is what
// the rules alone give.
#include "compiler/syntax/scanner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "common/files.h"
#include "tests/support/paths.h"

namespace radl {
namespace {

using Seen = std::vector<std::tuple<RawKind, uint32_t, uint32_t>>;

Seen tokens_of(std::string_view text, bool by_rules) {
  Seen seen;
  Scanner scanner(text, false, 0, false, by_rules);
  for (RawToken raw = scanner.next(); raw.kind != RawKind::End; raw = scanner.next())
    seen.emplace_back(raw.kind, raw.begin, raw.end);
  return seen;
}

void expect_same(const std::string& text) {
  ASSERT_EQ(tokens_of(text, false), tokens_of(text, true)) << text;
}

TEST(Scanner, ReadsEveryRadlFileAsItsRulesSay) {
  size_t files = 0;
  for (const char* folder : {"tests/lang", "examples", "stdlib"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_dir() + "/" + folder)) {
      if (entry.path().extension() != ".radl") continue;
      auto text = read_file(entry.path().string(), size_t{1} << 20);
      ASSERT_TRUE(text.ok());
      expect_same(*text);
      // Cut in the middle of whatever stands there, and with a byte that belongs nowhere.
      for (size_t cut = 1; cut < text->size(); cut += 1 + text->size() / 40) {
        expect_same(text->substr(cut));
        expect_same(text->substr(0, cut));
        for (const char* odd : {"\xC3\xA9", "'", "$", "\xFF", "(", ")", "@begin"}) {
          std::string changed = *text;
          changed.insert(cut, odd);
          expect_same(changed);
        }
      }
      ++files;
    }
  }
  EXPECT_GT(files, 200u);
}

TEST(Scanner, KnowsWhatALetterOfAnotherScriptDoesToWordsAndNumbers) {
  for (const char* text : {"syst\xC3\xA9m",
                           "system\xC3\xA9",
                           "12\xD9\xA3",
                           "1.\xD9\xA3",
                           "and\xE2\x82\xAC",
                           "1.2.3",
                           ".5",
                           "a-b",
                           "-a",
                           "4-",
                           "andy",
                           "<=>=<",
                           "(<=>=<",
                           "@begin@end",
                           "@begin\nx",
                           "'a\\'b'",
                           "'random(3)'",
                           "''",
                           "'",
                           "'\\",
                           "",
                           "(",
                           "a\0b",
                           "#",
                           "# x\n#\n",
                           "contextualizer"})
    expect_same(text);
  expect_same(std::string("a\0b (c\0= 1)", 11));
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
  Seen all = tokens_of(text, true);
  ASSERT_EQ(rest.size() + 2, all.size());
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin() + 2));
}

}  // namespace
}  // namespace radl
