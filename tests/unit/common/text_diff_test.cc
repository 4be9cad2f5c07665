// Line differences: applying them gives the new text; they are as short as dynamic programming finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/files.h"
#include "common/text_diff.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

using Lines = std::vector<std::string_view>;

std::string apply(const Lines& before, const Lines& after, const std::vector<LineChange>& changes) {
  std::string out;
  size_t at = 0;
  for (const LineChange& change : changes) {
    EXPECT_LE(at, change.old_begin);
    for (; at < change.old_begin; ++at) out += before[at];
    for (size_t i = change.new_begin; i < change.new_end; ++i) out += after[i];
    at = change.old_end;
  }
  for (; at < before.size(); ++at) out += before[at];
  return out;
}

size_t cost(const std::vector<LineChange>& changes) {
  size_t sum = 0;
  for (const LineChange& c : changes) sum += (c.old_end - c.old_begin) + (c.new_end - c.new_begin);
  return sum;
}

size_t shortest(const Lines& a, const Lines& b) {
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      common[i + 1][j + 1] = a[i] == b[j] ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
    }
  }
  return a.size() + b.size() - 2 * common[a.size()][b.size()];
}

TEST(TextDiff, ShortestOnRandomTexts) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string before, after;
    for (size_t i = random() % 12; i > 0; --i)
      before += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    for (size_t i = random() % 12; i > 0; --i)
      after += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    Lines a = split_lines(before), b = split_lines(after);
    auto changes = diff_lines(a, b);
    ASSERT_EQ(apply(a, b, changes), after) << before << "->" << after;
    ASSERT_EQ(cost(changes), shortest(a, b)) << before << "->" << after;
  }
}

TEST(TextDiff, ManyDifferencesStillGiveTheNewText) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "line " + std::to_string(i) + "\n";
    after += (i % 3 ? "  line " : "line ") + std::to_string(i) + "\n";
  }
  Lines a = split_lines(before), b = split_lines(after);
  EXPECT_EQ(apply(a, b, diff_lines(a, b)), after);
}

TEST(TextDiff, UnifiedFormat) {
  std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
  std::string after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\nend";
  EXPECT_EQ(unified_diff(before, after, "a/x", "b/x"),
            "--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
            "@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+end\n\\ No newline at end of file\n");
  EXPECT_EQ(unified_diff("same\n", "same\n", "a", "b"), "");
  EXPECT_EQ(unified_diff("", "x\n", "a", "b"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
}

TEST(TextDiff, HunksArePatches) {
  EXPECT_EQ(diff_hunks("same\n", "same\n"), "");
  EXPECT_EQ(diff_hunks("", "new\n"), "@@ -0,0 +1 @@\n+new\n");
  EXPECT_EQ(diff_hunks("a\nb", "a\nc"),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n");
  test::TemporaryFolder folder;
  // Against diff itself, on texts with scattered changes.
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::string before, after;
    unsigned state = seed;
    for (int line = 0; line < 60; ++line) {
      state = state * 1103515245 + 12345;
      std::string text = "line " + std::to_string(line) + "\n";
      if ((state >> 16) % 10 != 0) before += text;
      if ((state >> 18) % 9 != 0) after += text;
      if ((state >> 20) % 13 == 0) after += "added\n";
    }
    ASSERT_TRUE(write_file_atomic(folder.path() + "/a", before).ok() &&
                write_file_atomic(folder.path() + "/b", after).ok());
    ASSERT_TRUE(write_file_atomic(folder.path() + "/d", "--- a\n+++ b\n" + diff_hunks(before, after)).ok());
    if (before == after) continue;
    std::string patch = "cd " + folder.path() + " && cp a c && patch -s c d && cmp c b";
    EXPECT_EQ(std::system(patch.c_str()), 0) << seed;
  }
}

}  // namespace
}  // namespace radl
