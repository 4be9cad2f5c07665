// How fast data moves: what a forecast's time for staging is made of.
#include "engine/data/rates.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "engine/data/place.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace radl::engine::data {
namespace {

bool is_empty(const std::string& folder) { return std::filesystem::is_empty(folder); }

TEST(DiskRates, AreOfBytesThatWereWrittenAndNothingIsLeft) {
  test::TemporaryFolder folder(test::TemporaryFolder::Place::Disk);
  auto rates = measure_disk(folder.path(), 0.2, {});
  ASSERT_TRUE(rates.ok()) << rates.status().text();
  EXPECT_GE(rates->bytes, 16u << 20);
  EXPECT_GT(rates->write_per_second, 0);
  EXPECT_GT(rates->read_per_second, 0);
  EXPECT_TRUE(is_empty(folder.path()));
}

TEST(DataPlace, AKeyOfAStoreHasNoQuery) {
  for (const char* one : {"s3://b/a?1/x.csv", "s3://b/a#1/x.tar", "https://h/x.csv?token=a/b"})
    EXPECT_TRUE(is_one_file(one)) << one;
  for (const char* folder : {"s3://b/x.csv?more", "https://h/x?name=x.csv"})
    EXPECT_FALSE(is_one_file(folder)) << folder;
}

TEST(DiskRates, AFolderThatIsNotThereIsNamed) {
  auto rates = measure_disk("/nowhere/at all", 0.2, {});
  EXPECT_EQ(rates.status().code(), Code::NotFound);
  EXPECT_NE(rates.status().text().find("/nowhere/at all"), std::string::npos);
}

TEST(DiskRates, AreGivenUpWhenSomebodyAsks) {
  test::TemporaryFolder folder;
  EXPECT_EQ(measure_disk(folder.path(), 600, Stop::when([] { return true; })).status().code(),
            Code::Cancelled);
  EXPECT_TRUE(is_empty(folder.path()));
}

class SourceRates : public testing::Test {
 protected:
  SourceRates() { setenv("TMPDIR", scratch.path().c_str(), 1); }
  ~SourceRates() override {
    EXPECT_TRUE(is_empty(scratch.path())) << "what was fetched is left there";
    unsetenv("TMPDIR");
  }
  test::TemporaryFolder scratch, data;
  http::Client http{environment_of_process()};
};

TEST_F(SourceRates, OfAFolderAreOfItsLargeAndSmallFiles) {
  const size_t large = 9u << 20;
  ASSERT_TRUE(make_directories(data.path("a")).ok());
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(write_file_atomic(data.path("a/" + std::to_string(i)), std::string(1000, 'x')).ok());
  ASSERT_TRUE(write_file_atomic(data.path("large"), std::string(large, 'y')).ok());
  auto rate = measure_source(http, data.path(), 600, {});
  ASSERT_TRUE(rate.ok()) << rate.status().text();
  EXPECT_EQ(rate->all, large + 20000);
  EXPECT_GE(rate->bytes, large + 20000);
  EXPECT_GT(rate->per_second, 0);
}

TEST_F(SourceRates, WhatCameUntilTheTimeWasOverCounts) {
  // The connection stays open, and nothing comes behind the first megabyte.
  test::ScriptedServer server(
      [](const std::string&) {
        return "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + std::string(1 << 20, 'x');
      },
      true);
  auto rate = measure_source(http, server.url("/images.tar"), 2, {});
  ASSERT_TRUE(rate.ok()) << rate.status().text();
  EXPECT_GE(rate->bytes, 1u << 20);
  EXPECT_EQ(rate->all, 0u) << "how large it is nobody has seen";
}

TEST_F(SourceRates, WhatIsNotThereIsAnErrorAndNoRate) {
  test::ScriptedServer server(
      [](const std::string&) { return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; });
  auto rate = measure_source(http, server.url("/images.tar"), 2, {});
  EXPECT_EQ(rate.status().code(), Code::NotFound);
}

}  // namespace
}  // namespace radl::engine::data
