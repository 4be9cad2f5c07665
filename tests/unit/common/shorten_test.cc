#include "common/shorten.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

TEST(Shorten, KeepsWhatFits) {
  EXPECT_EQ(shorten("", 3), "");
  EXPECT_EQ(shorten("größe", 7), "größe");
  EXPECT_EQ(beginning_of("größe", 7), "größe");
  EXPECT_EQ(end_of("größe", 7), "größe");
}

TEST(Shorten, CutsBeforeACharacter) {
  const std::string text = "aö€😀b";  // 1, 2, 3, 4 and 1 bytes
  const char* beginnings[] = {"", "a", "a", "aö", "aö", "aö", "aö€", "aö€", "aö€", "aö€", "aö€😀"};
  const char* ends[] = {"", "b", "b", "b", "b", "😀b", "😀b", "😀b", "€😀b", "€😀b", "ö€😀b"};
  for (size_t most = 0; most < std::size(beginnings); ++most) {
    EXPECT_EQ(beginning_of(text, most), beginnings[most]) << most;
    EXPECT_EQ(end_of(text, most), ends[most]) << most;
  }
}

TEST(Shorten, CountsTheDotsToo) {
  EXPECT_EQ(shorten("abcdefgh", 6), "abc...");
  EXPECT_EQ(shorten("abödefgh", 6), "ab...");
  EXPECT_EQ(shorten("abcd", 3), "...");
}

// Bytes of another encoding: each counts as a character.
TEST(Shorten, CutsOtherBytesAnywhere) {
  const std::string bytes(20, '\x80');
  EXPECT_EQ(beginning_of(bytes, 7).size(), 7U);
  EXPECT_LE(end_of(bytes, 7).size(), 7U);
  EXPECT_GE(end_of(bytes, 7).size(), 4U);
}

}  // namespace
}  // namespace radl
