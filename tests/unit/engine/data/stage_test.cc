// What is sent to nodes: exactly the dataset's files, whatever else lies in the folder.
#include "engine/data/stage.h"

#include <thread>

#include "tests/support/paths.h"
#include "tests/unit/engine/data/own_case.h"

namespace radl::engine::data {
namespace {

using Stage = OwnCase;

std::vector<std::string> listed(const Staged& s) {
  std::vector<std::string> names;
  std::istringstream lines(*read_file(s.list));
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(68));
  return names;
}

TEST_F(Stage, HiddenFilesAreNotPartOfIt) {
  classes("f", {{"a", 2}, {"b", 1}});
  put("f/.hidden/x.png", "x");
  put("f/a/.DS_Store", "x");
  auto staged = stage_dataset({.dataset = path + "/f"});
  ASSERT_TRUE(staged.ok()) << staged.status().text();
  EXPECT_EQ(listed(**staged), (std::vector<std::string>{"a/100.png", "a/101.png", "b/100.png"}));
  EXPECT_EQ((*staged)->digest, sha256_hex(*read_file((*staged)->list)));
}

TEST_F(Stage, CorruptImagesAreRefusedOrLeftOutUpToALimit) {
  classes("f", {{"a", 4}, {"b", 4}});
  put("f/a/100.png", "broken");
  put("f/b/101.png", png(8, 8, 1).substr(0, 60));
  auto refused = stage_dataset({.dataset = path + "/f"});
  EXPECT_EQ(refused.status().code(), Code::Corrupt);
  for (const char* name : {"a/100.png: neither", "b/101.png: PNG", "2 of its images"})
    EXPECT_NE(refused.status().message().find(name), std::string::npos) << refused.status().message();
  auto skipped = stage_dataset({.dataset = path + "/f", .skip_corrupt = true});
  ASSERT_TRUE(skipped.ok()) << skipped.status().text();
  EXPECT_EQ((*skipped)->left_out, (std::vector<std::string>{"a/100.png", "b/101.png"}));
  EXPECT_EQ((*skipped)->files, 6u);
  auto limited = stage_dataset({.dataset = path + "/f", .skip_corrupt = true, .corrupt_limit = 1});
  EXPECT_EQ(limited.status().code(), Code::Corrupt);
  EXPECT_NE(limited.status().message().find("corrupt_limit of 1"), std::string::npos);
}

TEST_F(Stage, OfTheCacheOnlyTheKnownFilesAreListedWhileOthersWriteInIt) {
  const std::string subset = test::source_dir() + "/examples/cifar10/subset";
  StageOptions o{.dataset = "cifar10"};
  o.fetch = {.directory = path + "/c", .source = "subset", .subset = subset};
  auto first = stage_dataset(o);
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_EQ(listed(**first), (std::vector<std::string>{"data_batch_1.bin", "test_batch.bin"}));
  put("c/.verified.tmp-1234", "x");
  put("c/x.tmp-77", "x");
  const auto written = std::filesystem::last_write_time(path + "/c/data_batch_1.bin");
  auto again = stage_dataset(o);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->digest, (*first)->digest);
  EXPECT_EQ(std::filesystem::last_write_time(path + "/c/data_batch_1.bin"), written);  // not written again
}

TEST_F(Stage, OfflineNothingIsFetched) {
  StageOptions o{.dataset = "cifar10"};
  o.fetch = {.directory = path + "/c", .source = "official"};
  o.offline = true;
  auto staged = stage_dataset(o);
  ASSERT_TRUE(staged.ok()) << staged.status().text();
  EXPECT_FALSE(staged->has_value());
  o.dataset = "s3://bucket/x";
  auto elsewhere = stage_dataset(o);
  ASSERT_TRUE(elsewhere.ok());
  EXPECT_FALSE(elsewhere->has_value());
  EXPECT_NE(stage_dataset({.dataset = "imagenet"}).status().hint().find("./imagenet"), std::string::npos);
}

}  // namespace
}  // namespace radl::engine::data
