#include "common/ignore_rules.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

namespace radl {
namespace {

namespace fs = std::filesystem;

IgnoreRules rules(const std::vector<std::string>& patterns) {
  auto made = IgnoreRules::of(patterns);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made ? *made : IgnoreRules();
}

bool file_out(const std::vector<std::string>& patterns, std::string_view path) {
  return rules(patterns).leaves_out(path, false);
}
bool folder_out(const std::vector<std::string>& patterns, std::string_view path) {
  return rules(patterns).leaves_out(path, true);
}

TEST(IgnoreRules, ANameIsLeftOutAtAnyDepthAndAPathFromTheTop) {
  EXPECT_TRUE(file_out({"a.txt"}, "a.txt"));
  EXPECT_TRUE(file_out({"a.txt"}, "deep/er/a.txt"));
  EXPECT_FALSE(file_out({"/a.txt"}, "deep/a.txt"));
  EXPECT_TRUE(file_out({"/a.txt"}, "a.txt"));
  EXPECT_TRUE(file_out({"deep/a.txt"}, "deep/a.txt"));
  EXPECT_FALSE(file_out({"deep/a.txt"}, "other/deep/a.txt"));
}

TEST(IgnoreRules, WildcardsStayWithinAFolderButForTwoStars) {
  EXPECT_TRUE(file_out({"*.pt"}, "out/last.pt"));
  EXPECT_FALSE(file_out({"out/*.pt"}, "out/old/last.pt"));
  EXPECT_TRUE(file_out({"out/**"}, "out/old/last.pt"));
  EXPECT_FALSE(folder_out({"out/**"}, "out"));
  EXPECT_TRUE(file_out({"**/old/*.pt"}, "old/last.pt"));
  EXPECT_TRUE(file_out({"a/**/b"}, "a/b"));
  EXPECT_TRUE(file_out({"a/**/b"}, "a/x/y/b"));
  EXPECT_FALSE(file_out({"a/**/b"}, "a/xb"));
  EXPECT_TRUE(file_out({"run?"}, "run1"));
  EXPECT_FALSE(file_out({"a?b"}, "a/b"));
  EXPECT_FALSE(file_out({"run?"}, "run"));
}

TEST(IgnoreRules, SetsOfCharacters) {
  EXPECT_TRUE(file_out({"[a-c]1"}, "b1"));
  EXPECT_FALSE(file_out({"[!a-c]1"}, "b1"));
  EXPECT_TRUE(file_out({"[^a-c]1"}, "z1"));
  EXPECT_TRUE(file_out({"[]x]"}, "]"));
  EXPECT_TRUE(file_out({"[a-]"}, "-"));
  EXPECT_TRUE(file_out({"[[:digit:]_]x"}, "_x"));
  EXPECT_TRUE(file_out({"[[:digit:]_]x"}, "7x"));
  EXPECT_FALSE(file_out({"a[!b]c"}, "a/c"));
  EXPECT_TRUE(file_out({"[\\]]"}, "]"));
}

TEST(IgnoreRules, TheLastPatternDecidesAndALeftOutFolderIsLeftOutWhole) {
  EXPECT_FALSE(file_out({"*.csv", "!keep.csv"}, "keep.csv"));
  EXPECT_TRUE(file_out({"!keep.csv", "*.csv"}, "keep.csv"));
  EXPECT_TRUE(file_out({"data/", "!data/keep.csv"}, "data/keep.csv"));
  EXPECT_FALSE(file_out({"data/*", "!data/keep.csv"}, "data/keep.csv"));
  EXPECT_TRUE(file_out({"data/*", "!data/keep.csv"}, "data/other.csv"));
}

TEST(IgnoreRules, ASlashAtTheEndIsForFoldersAlone) {
  EXPECT_TRUE(folder_out({"build/"}, "build"));
  EXPECT_FALSE(file_out({"build/"}, "build"));
  EXPECT_TRUE(file_out({"build/"}, "a/build/x"));
}

TEST(IgnoreRules, BackslashesTakeCharactersAsTheyAre) {
  EXPECT_TRUE(file_out({"\\!x"}, "!x"));
  EXPECT_TRUE(file_out({"\\#x"}, "#x"));
  EXPECT_TRUE(file_out({"a\\*"}, "a*"));
  EXPECT_FALSE(file_out({"a\\*"}, "ab"));
}

TEST(IgnoreRules, WhatCanMatchNothingIsSaid) {
  for (const char* pattern : {"[abc", "a\\", "[a-", "[[:nope:]]", "/", "!", "[[:alpha:]"}) {
    auto made = IgnoreRules::of({"fine", pattern});
    ASSERT_FALSE(made.ok()) << pattern;
    EXPECT_NE(made.status().message().find(pattern), std::string::npos) << made.status().message();
  }
}

TEST(IgnoreRules, CommentsEmptyLinesAndBlanksOfAFile) {
  EXPECT_EQ(ignore_patterns_in("\xEF\xBB\xBF# all\n\n*.pt\r\n  \n a b  \nkept\\ \n\\#x\nlast"),
            (std::vector<std::string>{"*.pt", " a b", "kept\\ ", "\\#x", "last"}));
  EXPECT_TRUE(file_out(ignore_patterns_in("kept\\ \n"), "kept "));
  EXPECT_TRUE(ignore_patterns_in("").empty());
}

TEST(IgnoreRules, ManyStarsTakeNoLonger) {
  std::string pattern, path(200, 'a');
  for (int i = 0; i < 60; ++i) pattern += "a*";
  EXPECT_FALSE(file_out({pattern + "b"}, path));
}

// ---- as git itself says it

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  std::string path() {
    std::string text;
    for (size_t parts = 1 + below(4); parts > 0; --parts) text += (text.empty() ? "" : "/") + name();
    return text;
  }
  std::string pattern() {
    std::string text = below(4) == 0 ? "!" : "";
    if (below(4) == 0) text += "/";
    const size_t parts = 1 + below(3);
    for (size_t i = 0; i < parts; ++i) text += (i ? "/" : "") + (below(5) == 0 ? "**" : name_pattern());
    if (below(4) == 0) text += "/";
    return text;
  }

 private:
  std::string name() {
    std::string text;
    for (size_t n = 1 + below(3); n > 0; --n) text += "abc-]!#"[below(below(3) ? 3 : 7)];
    return text;
  }
  std::string name_pattern() {
    static constexpr const char* kSets[] = {"[ab]",    "[!a]",        "[^b-c]",      "[]a]",
                                            "[a-]",    "[[:alpha:]]", "[[:punct:]]", "[\\]]",
                                            "[a-b-c]", "[[:a]",       "[c-a]",       "[!]]"};
    std::string text;
    for (size_t n = 1 + below(4); n > 0; --n) {
      switch (below(7)) {
        case 0:
          if (!text.ends_with('*')) text += "*";  // two of them within a name: versions of git differ
          break;
        case 1:
          text += "?";
          break;
        case 2:
          text += kSets[below(std::size(kSets))];
          break;
        case 3:
          text += std::string("\\") + "abc!#-"[below(6)];
          break;
        default:
          text += "abc"[below(3)];
      }
    }
    return text;
  }
  std::mt19937 random_;
};

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  pclose(pipe);
  return out;
}

// A tree of files and folders, and what git leaves out of it by a .gitignore.
class AsGit : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no git";
    char made[] = "/tmp/ignore-XXXXXX";
    ASSERT_NE(mkdtemp(made), nullptr);
    root_ = made;
    ASSERT_EQ(std::system(("git -c init.defaultBranch=main init -q " + root_).c_str()), 0);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!root_.empty()) fs::remove_all(root_, ignored);
  }
  std::set<std::string> by_git(const std::string& text, const std::vector<std::string>& paths) {
    std::ofstream(root_ + "/.gitignore") << text;
    std::ofstream list("" + root_ + "/.git/paths", std::ios::binary);
    for (const std::string& path : paths) list << path << '\0';
    list.close();
    const std::string out = output_of("cd " + root_ +
                                      " && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 "
                                      "git check-ignore -z --no-index --stdin < .git/paths");
    std::set<std::string> ignored;
    for (size_t at = 0; at < out.size();) {
      const size_t end = out.find('\0', at);
      ignored.insert(out.substr(at, end - at));
      at = end + 1;
    }
    return ignored;
  }
  std::string root_;
};

TEST_F(AsGit, GeneratedPatternsAndPaths) {
  for (unsigned seed = 0; seed < 15; ++seed) {
    Generator generator(seed);
    std::vector<std::string> paths;
    for (int i = 0; i < 40; ++i) {
      const std::string path = generator.path();
      std::error_code error;
      if (generator.below(2))
        fs::create_directories(root_ + "/" + path, error);
      else if (fs::create_directories(fs::path(root_ + "/" + path).parent_path(), error);
               !fs::exists(root_ + "/" + path))
        std::ofstream(root_ + "/" + path) << "x";
      if (fs::exists(root_ + "/" + path)) paths.push_back(path);
    }
    for (int round = 0; round < 6; ++round) {
      std::string text;
      for (size_t n = 1 + generator.below(4); n > 0; --n) text += generator.pattern() + "\n";
      std::vector<std::string> good;  // git passes over one that can match nothing
      for (const std::string& pattern : ignore_patterns_in(text))
        if (IgnoreRules::of({pattern}).ok()) good.push_back(pattern);
      const IgnoreRules made = rules(good);
      const std::set<std::string> expected = by_git(text, paths);
      for (const std::string& path : paths)
        EXPECT_EQ(made.leaves_out(path, fs::is_directory(root_ + "/" + path)), expected.contains(path))
            << "'" << path << "' by\n"
            << text;
      if (HasFailure()) return;
    }
    for (const auto& entry : fs::directory_iterator(root_))
      if (entry.path().filename() != ".git") fs::remove_all(entry.path());
  }
}

}  // namespace
}  // namespace radl
