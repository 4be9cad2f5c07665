// Which files a dataset of one's own consists of, and its digest.
#include "common/dataset_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/csv_line.h"
#include "common/dataset_digest.h"
#include "common/digest.h"
#include "common/files.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

struct DatasetFilesTest : testing::Test {
  std::string path = testing::TempDir() + "dataset-" + to_hex(random_bytes(6));
  DatasetFilesTest() {
    fs::create_directories(path);
    ::setenv("XDG_CACHE_HOME", (path + "/.cache").c_str(), 1);
  }
  ~DatasetFilesTest() override { fs::remove_all(path); }
  void put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path + "/" + name).parent_path());
    ASSERT_TRUE(write_file_atomic(path + "/" + name, bytes).ok());
  }
  std::string digest(const std::string& place) const {
    auto files = list_dataset(path + "/" + place);
    EXPECT_TRUE(files.ok()) << files.status().text();
    auto digests = file_digests(*files, user_cache(environment_of_process()));
    EXPECT_TRUE(digests.ok());
    return content_digest(*files, *digests);
  }
};

TEST(DatasetName, ANameIsNoPlaceAndAPlaceIsNoName) {
  for (const char* place :
       {"./x", "../x", "/x", "a/b", "s3://b/p", "x.zip", "x.TAR.GZ", "l.csv", ".", "p.radlpack"})
    EXPECT_TRUE(names_a_place(place)) << place;
  for (const char* name : {"cifar10", "mnist", "my-images", ""}) EXPECT_FALSE(names_a_place(name)) << name;
  EXPECT_EQ(place_stem("./images/"), "images");
  EXPECT_EQ(place_stem("/a/My Photos.tar.gz"), "My-Photos");
  EXPECT_EQ(place_stem("s3://bucket/some/prefix?x"), "prefix");
  EXPECT_EQ(place_stem(".."), "dataset");
  for (const char* outside : {"/x", "../x", "a/../../x", ""}) EXPECT_FALSE(stays_below(outside)) << outside;
}

TEST_F(DatasetFilesTest, DotsAndPermissionsDoNotCountContentAndNamesDo) {
  put("f/a/1.png", "one");
  put("f/b/2.png", "two");
  const std::string first = digest("f");
  put("f/.lock", "x");
  put("f/a/.DS_Store", "x");
  put("f/__MACOSX/a/1.png", "x");
  ::chmod((path + "/f/a/1.png").c_str(), 0600);
  EXPECT_EQ(digest("f"), first);
  put("f/a/1.png", "ONE");
  EXPECT_NE(digest("f"), first);
  put("f/a/1.png", "one");
  EXPECT_EQ(digest("f"), first);
  fs::rename(path + "/f/a/1.png", path + "/f/b/1.png");
  EXPECT_NE(digest("f"), first);
}

TEST_F(DatasetFilesTest, ANotedDigestIsUsedUntilTheFileChanges) {
  put("f/a/1.png", "one");
  // So long ago that its time tells it from any other content.
  fs::last_write_time(path + "/f/a/1.png", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string first = digest("f");
  EXPECT_EQ(digest("f"), first);
  put("f/a/1.png", "two");  // the same size
  EXPECT_NE(digest("f"), first);
}

TEST_F(DatasetFilesTest, LinksAreFollowedAndCyclesEnd) {
  put("real/a/1.png", "one");
  fs::create_directories(path + "/f");
  fs::create_directory_symlink(path + "/real/a", path + "/f/a");
  fs::create_symlink(path + "/nowhere", path + "/f/broken");
  auto files = list_dataset(path + "/f");
  ASSERT_TRUE(files.ok()) << files.status().text();
  ASSERT_EQ(files->files.size(), 1u);
  EXPECT_EQ(files->files[0].name, "a/1.png");
  fs::create_directory_symlink(path + "/f", path + "/f/itself");
  EXPECT_FALSE(list_dataset(path + "/f").ok());
}

TEST_F(DatasetFilesTest, ACsvBringsTheFilesThatItNames) {
  put("c/i/1.png", "one");
  put("c/i/2.png", "two");
  put("c/other.txt", "no part of it");
  put("c/l.csv", "file,label\ni/2.png,x\n\"i/1.png\",y\ni/1.png,y\n");
  auto files = list_dataset(path + "/c/l.csv");
  ASSERT_TRUE(files.ok()) << files.status().text();
  ASSERT_EQ(files->files.size(), 3u);
  EXPECT_EQ(files->files[0].name, "i/1.png");
  EXPECT_EQ(files->files[2].name, "l.csv");
  put("c/l.csv", "file,label\ni/3.png,x\n");
  EXPECT_NE(list_dataset(path + "/c/l.csv").status().message().find("l.csv:2"), std::string::npos);
  put("c/l.csv", "label,p\n1,2\n");
  EXPECT_EQ(list_dataset(path + "/c/l.csv")->files.size(), 1u);
}

TEST(CsvLineTest, QuotesHoldCommasAndQuotes) {
  CsvLine line;
  line.split(" a , \"b,c\" ,\"say \"\"x\"\"\",,\"\"\r");
  EXPECT_EQ(line.fields(), (std::vector<std::string_view>{"a", "b,c", "say \"x\"", "", ""}));
  line.split("\"open,end");
  EXPECT_EQ(line.fields(), (std::vector<std::string_view>{"open,end"}));
}

}  // namespace
}  // namespace radl
