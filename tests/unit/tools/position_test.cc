// Offsets and editors' positions, and documents that are edited by ranges.
#include <gtest/gtest.h>

#include <random>

#include "tools/lsp/document.h"
#include "tools/lsp/position.h"

namespace radl::lsp {
namespace {

TEST(Position, CountsUnitsOfEachEncoding) {
  std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z\nx";  // a, two, three and four bytes
  LineIndex lines(text);
  size_t z = text.find('z');
  EXPECT_EQ(lines.position(text, z, Encoding::Utf8), (Position{0, 10}));
  EXPECT_EQ(lines.position(text, z, Encoding::Utf16), (Position{0, 5}));
  EXPECT_EQ(lines.position(text, z, Encoding::Utf32), (Position{0, 4}));
  EXPECT_EQ(lines.offset(text, {0, 5}, Encoding::Utf16), z);
  EXPECT_EQ(lines.offset(text, {0, 4}, Encoding::Utf16), z - 4)
      << "the middle of a surrogate pair is its start";
  EXPECT_EQ(lines.offset(text, {1, 1}, Encoding::Utf16), text.size());
}

TEST(Position, ClampsWildOnes) {
  std::string text = "ab\ncd";
  LineIndex lines(text);
  EXPECT_EQ(lines.offset(text, {0, 99}, Encoding::Utf16), 2u);
  EXPECT_EQ(lines.offset(text, {99, 0}, Encoding::Utf16), text.size());
  EXPECT_EQ(lines.position(text, 99, Encoding::Utf16), (Position{1, 2}));
  EXPECT_EQ(LineIndex("").position("", 0, Encoding::Utf16), (Position{0, 0}));
}

TEST(Position, KnowsAllLineEnds) {
  std::string text = "a\r\nb\rc\n\r\nd";
  LineIndex lines(text);
  EXPECT_EQ(lines.line_count(), 5u);
  EXPECT_EQ(lines.position(text, text.find('d'), Encoding::Utf16), (Position{4, 0}));
  EXPECT_EQ(lines.offset(text, {0, 7}, Encoding::Utf16), 1u);
  EXPECT_EQ(lines.position(text, 2, Encoding::Utf16), (Position{0, 1})) << "between CR and LF";
}

TEST(Position, EveryOffsetOfAnyBytesGoesThereAndBack) {
  std::mt19937 random(3);
  const std::string alphabet[] = {"a", "\n", "\r", "\xC3\xA4", "\xF0\x9F\x98\x80", "\xFF", "\xC3", " "};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += alphabet[random() % std::size(alphabet)];
    LineIndex lines(text);
    for (Encoding encoding : {Encoding::Utf8, Encoding::Utf16, Encoding::Utf32}) {
      Position last{0, 0};
      for (size_t offset = 0; offset <= text.size(); ++offset) {
        Position position = lines.position(text, offset, encoding);
        EXPECT_LE(last, position);
        last = position;
        size_t back = lines.offset(text, position, encoding);
        EXPECT_LE(back, offset);
        EXPECT_EQ(lines.position(text, back, encoding), position);
      }
    }
  }
}

TEST(Document, RandomEditsGiveWhatAPlainStringGives) {
  std::mt19937 random(11);
  Document document("file:///x", "/x", 1, "first line\nsecond \xF0\x9F\x98\x80 line\n");
  std::string plain = document.text();
  for (int i = 0; i < 500; ++i) {
    size_t a = random() % (plain.size() + 1), b = std::min(plain.size(), a + random() % 8);
    while (a < plain.size() && (plain[a] & 0xC0) == 0x80) ++a;
    b = std::max(a, b);
    while (b < plain.size() && (plain[b] & 0xC0) == 0x80) ++b;
    std::string text = std::vector<std::string>{"", "x", "\n", "\xC3\xA4", "two\nlines"}[random() % 5];
    LineIndex lines(plain);
    Range range{lines.position(plain, a, Encoding::Utf16), lines.position(plain, b, Encoding::Utf16)};
    document.change(range, text, Encoding::Utf16);
    plain.replace(a, b - a, text);
    ASSERT_EQ(document.text(), plain);
  }
  document.change(std::nullopt, "whole", Encoding::Utf16);
  EXPECT_EQ(document.text(), "whole");
}

TEST(Document, AReversedRangeIsTakenTheRightWayRound) {
  Document document("file:///x", "/x", 1, "abcdef");
  document.change(Range{{0, 4}, {0, 2}}, "-", Encoding::Utf16);
  EXPECT_EQ(document.text(), "ab-ef");
}

}  // namespace
}  // namespace radl::lsp
