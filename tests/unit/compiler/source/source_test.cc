// Sources: line ends, places, and files of a compilation.
#include "compiler/source/source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/digest.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

TEST(SourceFile, LineEndsBecomeLf) {
  SourceFile file(1, "a.radl", "a\r\nb\rc\r\n");
  EXPECT_EQ(file.text(), "a\nb\nc\n");
  EXPECT_TRUE(file.crlf());
  EXPECT_EQ(file.line_count(), 4) << "the text ends with an empty line";
  EXPECT_EQ(file.line_text(2), "b");
}

TEST(SourceFile, TheStyleIsThatOfMostLines) {
  EXPECT_FALSE(SourceFile(1, "a", "a\r\nb\nc\n").crlf());
  EXPECT_FALSE(SourceFile(1, "a", "a\nb").crlf());
}

TEST(SourceFile, AByteOrderMarkIsDropped) { EXPECT_EQ(SourceFile(1, "a", "\xEF\xBB\xBFx").text(), "x"); }

TEST(SourceFile, TheDigestIsOfTheBytesAsGiven) {
  for (const char* bytes : {"a\r\nb", "\xEF\xBB\xBFx", "plain\n"})
    EXPECT_EQ(SourceFile(1, "a", bytes).sha256(), sha256_hex(bytes));
}

TEST(SourceFile, FindsTheFirstByteThatIsNotUtf8) {
  EXPECT_EQ(SourceFile(1, "a", "ab\xFF").invalid_utf8(), 2u);
  EXPECT_EQ(SourceFile(1, "a", std::string(64, 'a') + "\xC0\x80").invalid_utf8(), 64u) << "overlong";
  EXPECT_EQ(SourceFile(1, "a", "\xED\xA0\x80").invalid_utf8(), 0u) << "a surrogate";
  EXPECT_EQ(SourceFile(1, "a", "\xE2\x82").invalid_utf8(), 0u) << "cut off";
  EXPECT_EQ(SourceFile(1, "a", "ñ€😀").invalid_utf8(), std::string::npos);
}

TEST(SourceFile, ColumnsCountCodePoints) {
  SourceFile file(1, "a", "x\nñ😀z\n");
  const auto z = static_cast<uint32_t>(file.text().find('z'));
  EXPECT_EQ(file.position(z), (Position{2, 3}));
  EXPECT_EQ(file.offset(Position{2, 3}), z);
  EXPECT_EQ(file.offset(Position{2, 99}), file.text().find('\n', z)) << "clamped to the line";
  EXPECT_EQ(file.position(999), (Position{3, 1})) << "clamped to the text";
}

TEST(SourceFile, EveryCharacterGoesThereAndBack) {
  SourceFile file(1, "a", "\nab\n\nñ€\n😀");
  for (uint32_t at = 0; at <= file.text().size(); ++at) {
    const uint32_t back = file.offset(file.position(at));
    const bool inside =
        at < file.text().size() && (static_cast<unsigned char>(file.text()[at]) & 0xC0) == 0x80;
    EXPECT_EQ(file.position(back), file.position(at)) << at;
    if (!inside) {
      EXPECT_EQ(back, at);
    }
  }
}

TEST(Span, CoversFromTheFirstToTheLast) {
  EXPECT_EQ(cover({1, 2, 3}, {1, 7, 9}), (Span{1, 2, 9}));
  EXPECT_EQ(cover({}, {1, 7, 9}), (Span{1, 7, 9}));
  EXPECT_EQ(cover({1, 2, 3}, {}), (Span{1, 2, 3}));
}

TEST(SourceMap, NamesAPlace) {
  SourceMap sources;
  const SourceFile& first = sources.add("a.radl", "x\ny");
  const SourceFile& second = sources.add("b.radl", "z");
  EXPECT_EQ(sources.where({first.id(), 2, 3}), "a.radl:2:1");
  EXPECT_EQ(sources.text({second.id(), 0, 1}), "z");
  EXPECT_EQ(sources.find("b.radl"), &second);
  EXPECT_EQ(sources.find(uint32_t{0}), nullptr);
  EXPECT_EQ(sources.find(uint32_t{9}), nullptr);
  EXPECT_EQ(sources.where({}), "");
  EXPECT_EQ(sources.position({9, 0, 0}), Position{});
}

TEST(SourceMap, AnOverlayHidesTheFile) {
  test::TemporaryFolder folder;
  const std::string path = folder.path("a.radl");
  std::ofstream(path) << "of the disk";
  SourceMap sources;
  EXPECT_EQ((*sources.load(path))->text(), "of the disk");
  sources.overlay(path, "of the editor");
  EXPECT_EQ((*sources.load(path))->text(), "of the editor");
}

TEST(SourceMap, WhatCannotBeReadIsAStatus) {
  test::TemporaryFolder folder;
  SourceMap sources;
  EXPECT_EQ(sources.load(folder.path("none.radl")).status().code(), Code::NotFound);
  EXPECT_FALSE(sources.load(folder.path()).ok()) << "a folder";
  EXPECT_TRUE(sources.files().empty());
}

}  // namespace
}  // namespace radl
