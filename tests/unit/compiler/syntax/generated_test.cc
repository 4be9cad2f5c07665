// Nothing but the generated scanner and parsers reads a file: every file of the tests, the
// examples and the standard library goes through flex (grammar/radl.ll) and bison (radl.yy, radl2.yy).
// The linker puts the functions of this file before theirs (--wrap in CMakeLists.txt).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/files.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/scanner.h"
#include "compiler/syntax/version.h"
#include "tests/support/paths.h"

namespace radl {
class Builder;
class Radl2Builder;
class Radl2Tokens;
class TokenStream;

namespace {

struct Calls {
  int radl1 = 0, radl2 = 0;
  std::vector<RawToken> scanned;
};
Calls calls;

}  // namespace

#define RADL_WRAPPED(result, name, ...)         \
  extern "C" result __real_##name(__VA_ARGS__); \
  extern "C" result __wrap_##name(__VA_ARGS__)

RADL_WRAPPED(int, _Z18radl_grammar_parseRN4radl11TokenStreamERNS_7BuilderE, TokenStream& tokens,
             Builder& build) {
  ++calls.radl1;
  return __real__Z18radl_grammar_parseRN4radl11TokenStreamERNS_7BuilderE(tokens, build);
}
RADL_WRAPPED(int, _Z19radl2_grammar_parseRN4radl11Radl2TokensERNS_12Radl2BuilderE, Radl2Tokens& tokens,
             Radl2Builder& build) {
  ++calls.radl2;
  return __real__Z19radl2_grammar_parseRN4radl11Radl2TokensERNS_12Radl2BuilderE(tokens, build);
}
RADL_WRAPPED(RawToken, _Z15radl_scan_tokenPv, void* flex) {
  calls.scanned.push_back(__real__Z15radl_scan_tokenPv(flex));
  return calls.scanned.back();
}

namespace {

// Bytes of the file, other than blanks, that belong to none of the tokens.
std::string left_out(std::string text, const std::vector<RawToken>& tokens) {
  for (const RawToken& token : tokens) std::fill(text.begin() + token.begin, text.begin() + token.end, ' ');
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  return text;
}

TEST(GeneratedParsers, ReadEveryFile) {
  size_t files = 0, no_text = 0;
  for (const char* folder : {"tests", "examples", "stdlib"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_dir() + "/" + folder)) {
      if (entry.path().extension() != ".radl") continue;
      const std::string path = entry.path().string();
      auto text = read_file(path, size_t{1} << 20);
      ASSERT_TRUE(text.ok()) << path;
      const SourceFile source(1, path, *text);
      calls = {};
      Diagnostics found;
      auto tree = parse(source, found);
      ++files;
      if (calls.scanned.empty()) {  // an image, UTF-16 or JSON: there is nothing to read
        EXPECT_TRUE(tree->syntax_errors && tree->blocks.empty()) << path;
        ++no_text;
        continue;
      }
      // A file of RADL 1 that turns out to be `radl 2` without its first line is read by both.
      EXPECT_GE(begins_with_version(*text) ? calls.radl2 : calls.radl1, 1) << path;
      // Reading ends before the end of the file only after too many errors.
      if (!tree->syntax_errors) {
        EXPECT_EQ(left_out(std::string(source.text()), calls.scanned), "") << path;
      }
    }
  }
  EXPECT_GT(files, 800u);
  EXPECT_LT(no_text, 10u);
}

TEST(GeneratedParsers, ReadAFileOfTenThousandSystems) {
  std::string text;
  for (int i = 0; i < 10000; ++i)
    text += "system s" + std::to_string(i) + " (\n  cpu.count >= 2 and\n  memory.size >= 4G\n)\n";
  const SourceFile source(1, "large.radl", text);
  calls = {};
  Diagnostics found;
  parse(source, found);
  EXPECT_EQ(calls.radl1, 1);
  EXPECT_EQ(calls.scanned.size(), 10000u * 12 + 1);
}

}  // namespace
}  // namespace radl
