// Event files: known CRC vectors, framing that can be walked back, and messages with the right fields.
#include "engine/export/events.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "common/crc32c.h"
#include "common/digest.h"
#include "common/files.h"

namespace radl::engine::exporter {
namespace {

TEST(Crc32c, MatchesThePublishedVectors) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xe3069283u);
}

uint64_t fixed(const std::string& s, size_t at, int n) {
  uint64_t v = 0;
  for (int i = 0; i < n; ++i) v |= uint64_t(uint8_t(s[at + size_t(i)])) << (8 * i);
  return v;
}

std::vector<std::string> records(const std::string& bytes) {
  std::vector<std::string> all;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = fixed(bytes, at, 8);
    EXPECT_EQ(fixed(bytes, at + 8, 4), masked_crc32c(bytes.substr(at, 8)));
    all.push_back(bytes.substr(at + 12, length));
    EXPECT_EQ(all.back().size(), length);
    EXPECT_EQ(fixed(bytes, at + 12 + length, 4), masked_crc32c(all.back()));
    at += 16 + length;
  }
  return all;
}

TEST(Events, FileIsFramedAndHoldsWhatWasWritten) {
  std::string folder = testing::TempDir() + "events-" + to_hex(random_bytes(6)) + "/deep";
  std::string path;
  {
    auto w = EventWriter::create(folder);
    ASSERT_TRUE(w.ok()) << w.status().text();
    path = (*w)->path();
    ASSERT_TRUE((*w)->scalar("loss", 7, 0.5f).ok());
    ASSERT_TRUE((*w)->text("config", 0, "**hi**").ok());
    std::vector<float> v = {-1, 0, 0, 2, std::nanf(""), std::numeric_limits<float>::infinity()};
    ASSERT_TRUE((*w)->histogram("weights", 1, v).ok());
    ASSERT_TRUE((*w)->image("wrong", 1, 1, 1, 3, "PNGBYTES").ok());
    ASSERT_TRUE((*w)->flush().ok());
    auto second = EventWriter::create(folder);  // a second one never writes into the first's file
    ASSERT_TRUE(second.ok());
    EXPECT_NE((*second)->path(), path);
  }
  EXPECT_EQ(std::filesystem::path(path).filename().string().rfind("events.out.tfevents.", 0), 0u);
  auto bytes = read_file(path);
  ASSERT_TRUE(bytes.ok());
  auto all = records(*bytes);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_NE(all[0].find("brain.Event:2"), std::string::npos);
  EXPECT_EQ(uint8_t(all[1][0]), 0x09);  // wall time, a double
  EXPECT_EQ(uint8_t(all[1][9]), 0x10);  // step, a varint
  EXPECT_EQ(all[1][10], 7);
  EXPECT_NE(all[1].find("loss"), std::string::npos);
  EXPECT_NE(all[2].find("**hi**"), std::string::npos);
  EXPECT_NE(all[4].find("PNGBYTES"), std::string::npos);
  std::filesystem::remove_all(std::filesystem::path(folder).parent_path());
}

TEST(Events, AFolderThatCannotBeMadeIsAnError) { EXPECT_FALSE(EventWriter::create("/proc/no/such").ok()); }

}  // namespace
}  // namespace radl::engine::exporter
