#include "compiler/diag/shown_text.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

// The line as shown and the marks below `word`.
std::string shown(const std::string& line, const std::string& word) {
  size_t from = line.find(word);
  ShownLine out = show_line(line, from, from + word.size(), 4);
  return out.text + "\n" + std::string(out.from, ' ') + std::string(out.to - out.from, '^');
}

TEST(ShownLine, TabsGoToTheNextStop) {
  EXPECT_EQ(shown("\ta\tbad", "bad"), "    a   bad\n        ^^^");
  EXPECT_EQ(shown("abc\tbad", "bad"), "abc bad\n    ^^^");
}

TEST(ShownLine, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(shown("x = '日本' bad", "bad"), "x = '日本' bad\n           ^^^");
  EXPECT_EQ(shown("x = '日本' bad", "日本"), "x = '日本' bad\n     ^^^^");
  EXPECT_EQ(shown("日\tbad", "bad"), "日  bad\n    ^^^");
}

TEST(ShownLine, CombiningCharactersTakeNone) {
  EXPECT_EQ(shown("n\xCC\x83"
                  "andu bad",
                  "bad"),
            "n\xCC\x83"
            "andu bad\n      ^^^");
  EXPECT_EQ(shown("ñandú bad", "ñandú"), "ñandú bad\n^^^^^");
}

TEST(ShownLine, NothingDrivesTheTerminal) {
  EXPECT_EQ(shown("a\x1b[31m bad", "bad"), "a?[31m bad\n       ^^^");
  EXPECT_EQ(shown("a\xC2\x9B"
                  "31m bad",
                  "bad"),
            "a\xEF\xBF\xBD"
            "31m bad\n      ^^^");  // C1
  EXPECT_EQ(shown("a\xE2\x80\xAE"
                  "b bad",
                  "bad"),
            "a\xEF\xBF\xBD"
            "b bad\n    ^^^");  // right to left
  EXPECT_EQ(shown("ca\xF1"
                  "a bad",
                  "bad"),
            "ca\xEF\xBF\xBD"
            "a bad\n     ^^^");  // Latin-1
  EXPECT_EQ(printable("two\nlines\t\x1b]0;title\x07"), "two\nlines\t?]0;title?");
}

TEST(ShownLine, LongLinesAreCutAroundTheMarks) {
  std::string line = std::string(1000, 'a') + " bad " + std::string(1000, 'b');
  ShownLine out = show_line(line, 1001, 1004, 4);
  EXPECT_EQ(out.text.size(), 3u + 160 + 3);
  EXPECT_EQ(out.text.substr(out.from, out.to - out.from), "bad");
}

TEST(ShownLine, LongLinesOfAnyScriptAreCut) {
  std::string line;
  for (int i = 0; i < 1000; ++i) line += "日ñ";
  size_t from = line.size();
  line += "bad";
  for (int i = 0; i < 100'000; ++i) line += "ñ";
  ShownLine out = show_line(line, from, from + 3, 4);
  EXPECT_LT(out.text.size(), 500u);
  EXPECT_EQ(out.to - out.from, 3u);
  // What stands before the marks takes as many columns as the spaces below it.
  size_t columns = 0;
  std::string before = out.text.substr(0, out.text.find("bad"));
  for (char c : before.substr(3)) columns += c == '\xE6' ? 2 : c == '\xC3' ? 1 : 0;
  EXPECT_EQ(3 + columns, out.from) << before;
}

TEST(ShownLine, AMarkAtTheEndStandsBehindTheText) {
  ShownLine out = show_line("abc", 3, 4, 4);
  EXPECT_EQ(out.from, 3u);
  EXPECT_EQ(out.to, 3u);
  EXPECT_EQ(show_line("", 0, 1, 4).from, 0u);
}

TEST(ShownLine, OfMegabytesShowsTheSameWindow) {
  std::string line(10'000, 'a'), more(5'000'000, 'a');
  line[5'000] = 'X';
  more[5'000] = more[4'000'000] = 'X';
  ShownLine small = show_line(line, 5'000, 5'001, 4), large = show_line(more, 5'000, 5'001, 4),
            far = show_line(more, 4'000'000, 4'000'001, 4), last = show_line(more, 5'000'000, 5'000'001, 4);
  EXPECT_EQ(small.text, large.text);
  EXPECT_EQ(small.from, large.from);
  EXPECT_EQ(far.text, large.text);
  EXPECT_EQ(far.to, far.from + 1);
  EXPECT_LT(last.text.size(), 200u);
}

}  // namespace
}  // namespace radl
