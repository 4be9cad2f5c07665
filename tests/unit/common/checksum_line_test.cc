// Lines of sha256sum, written and read.
#include "common/checksum_line.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "common/digest.h"

namespace radl {
namespace {

TEST(ChecksumLine, IsWhatTheProgramItselfPrintsOfAnyName) {
  const std::string folder = testing::TempDir() + "checksum-" + to_hex(random_bytes(4));
  std::filesystem::create_directories(folder);
  for (const std::string name : {"plain", " a  b ", "back\\slash", "new\nline", "return\r", "*star", "\\"}) {
    std::ofstream(folder + "/" + name) << "content";
    FILE* said = popen(("cd '" + folder + "' && find . -type f -exec sha256sum {} +").c_str(), "r");
    ASSERT_NE(said, nullptr);
    std::string line;
    for (int c; (c = fgetc(said)) != EOF;) line += static_cast<char>(c);
    pclose(said);
    ASSERT_TRUE(line.ends_with('\n'));
    line.pop_back();
    const auto read = read_checksum_line(line);
    ASSERT_TRUE(read.has_value()) << line;
    EXPECT_EQ(read->name, "./" + name);
    EXPECT_EQ(read->digest, sha256_hex("content"));
    const auto again = read_checksum_line(checksum_line(read->digest, read->name));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->name, read->name);
    std::filesystem::remove(folder + "/" + name);
  }
  std::filesystem::remove_all(folder);
}

TEST(ChecksumLine, AnythingElseIsNone) {
  const std::string digest(64, 'a');
  for (const std::string& line : {std::string(), digest, digest + "  ", digest + " name", digest + "x  name",
                                  std::string(63, 'a') + "  name", "# " + digest + "  name",
                                  "\\" + digest + "  ends\\", "\\" + digest + "  a\\tb"})
    EXPECT_FALSE(read_checksum_line(line).has_value()) << line;
}

}  // namespace
}  // namespace radl
