// The tables of docs/job.md list the keys that the reader accepts, with their values and defaults. The page
// has only the meanings. ACCEPT=1 rewrites the tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "common/files.h"
#include "engine/train/job_check.h"
#include "tests/support/paths.h"

namespace radl::engine {
namespace {

std::vector<KeyInfo> keys_without_children() {
  std::vector<KeyInfo> all = job_keys(), out;
  for (KeyInfo& key : all) {
    if (size_t at = key.path.find("[0]"); at != std::string::npos) key.path.replace(at, 3, "[]");
  }
  for (const KeyInfo& key : all) {
    bool is_parent = false;
    for (const KeyInfo& other : all)
      is_parent |= other.path.starts_with(key.path + ".") || other.path.starts_with(key.path + "[].");
    if (!is_parent) out.push_back(key);
  }
  return out;
}

// "job" for keys at the top of the file, else the object that contains the key.
std::string part_of(const std::string& path) {
  const size_t end = path.find_first_of(".[");
  return end == std::string::npos ? "job" : path.substr(0, end);
}

// Key -> meaning, from the rows of the page.
std::map<std::string, std::string> meanings(const std::string& page) {
  std::map<std::string, std::string> out;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t last = line.rfind(" | ");
    out[line.substr(3, line.find('`', 3) - 3)] = line.substr(last + 3, line.size() - last - 5);
  }
  return out;
}

std::string table_of(const std::set<std::string>& parts, const std::map<std::string, std::string>& meaning) {
  std::string out = "| Key | Values | Default | Meaning |\n|---|---|---|---|\n";
  for (const KeyInfo& key : keys_without_children()) {
    if (!parts.contains(part_of(key.path))) continue;
    auto known = meaning.find(key.path);
    const std::string text = known == meaning.end() ? "" : known->second;
    EXPECT_GT(text.size(), 3u) << "docs/job.md: add a row with the meaning of `" << key.path << '`';
    out += fmt::format("| `{}` | {} | {} | {} |\n", key.path, key.values,
                       key.preset.starts_with('"') ? '`' + key.preset + '`' : key.preset, text);
  }
  return out;
}

TEST(JobPage, ListsEveryKeyWithItsValuesAndDefault) {
  const std::string path = test::source_dir() + "/docs/job.md";
  Result<std::string> page = read_file(path);
  ASSERT_TRUE(page.ok());
  const std::map<std::string, std::string> meaning = meanings(*page);
  std::string wanted = *page;
  std::set<std::string> shown;
  const std::string begin = "<!-- keys ", end = "<!-- end -->";
  for (size_t at = wanted.find(begin); at != std::string::npos; at = wanted.find(begin, at + 1)) {
    const size_t close = wanted.find(" -->\n", at), from = close + 5, to = wanted.find(end, from);
    ASSERT_NE(to, std::string::npos);
    std::istringstream words(wanted.substr(at + begin.size(), close - at - begin.size()));
    std::set<std::string> parts;
    for (std::string word; words >> word;) {
      parts.insert(word);
      EXPECT_TRUE(shown.insert(word).second) << word << " has two tables";
    }
    wanted.replace(from, to - from, table_of(parts, meaning));
  }
  for (const KeyInfo& key : keys_without_children())
    EXPECT_TRUE(shown.contains(part_of(key.path))) << "docs/job.md has no table for `" << key.path << '`';
  if (std::getenv("ACCEPT") != nullptr) {
    ASSERT_TRUE(write_file_atomic(path, wanted).ok());
  }
  EXPECT_EQ(*read_file(path), wanted) << "run this test once with ACCEPT=1 in the environment";
}

TEST(JobPage, KeysCarryWhatTheReaderChecks) {
  std::map<std::string, KeyInfo> keys;
  for (const KeyInfo& key : job_keys()) keys[key.path] = key;
  EXPECT_EQ(keys["optimizer.momentum"].values, "number, 0 to 0.9999");
  EXPECT_EQ(keys["optimizer.momentum"].preset, "0.9");
  EXPECT_EQ(keys["epochs"].values, "number, above 0, at most 1000000");
  EXPECT_EQ(keys["batch_size"].preset, "chosen");
  EXPECT_EQ(keys["resume"].values, "`auto`, `never`, `require`");
  EXPECT_EQ(keys["resume"].preset, "\"auto\"");
  EXPECT_TRUE(keys.contains("resize[0].scale"));
}

}  // namespace
}  // namespace radl::engine
