// Metrics in files: pieces as the agent sends them, and what it sends while a task runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "common/crc32c.h"
#include "common/digest.h"
#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/metric_files.h"

namespace radl::farm {
namespace {

std::string little(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string masked(const std::string& bytes) {
  const uint32_t crc = crc32c(bytes);
  return little((crc >> 15 | crc << 17) + 0xa282ead8u, 4);
}

std::string record(const std::string& data) {
  const std::string length = little(data.size(), 8);
  return length + masked(length) + data + masked(data);
}

std::string scalar(const std::string& tag, float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, 4);
  const std::string value = "\x0a" + little(tag.size(), 1) + tag + "\x15" + little(bits, 4);
  const std::string summary = "\x0a" + little(value.size(), 1) + value;
  return record("\x2a" + little(summary.size(), 1) + summary);
}

std::string piece(const std::string& key, size_t offset, const std::string& bytes) {
  return key + " " + std::to_string(offset) + " " + base64_encode(bytes);
}

using Reports = std::vector<std::string>;

TEST(FarmMetricFiles, LinesAreReportsOnceTheyAreComplete) {
  MetricFiles files("loss");
  EXPECT_EQ(*files.take("t.1", piece("l1", 0, "{\"loss\": 3}\n{\"lo")), Reports{"{\"loss\": 3}"});
  EXPECT_EQ(*files.take("t.1", piece("l1", 16, "ss\": 2}\n")), Reports{"{\"loss\": 2}"});
  EXPECT_EQ(*files.take("t.1", piece("l1", 24, "{\"loss\": 1}")), Reports{});
  EXPECT_EQ(Json::parse(files.rest("t.1")), (Json{{"loss", 1}}));
  EXPECT_EQ(files.rest("t.1"), "");
}

TEST(FarmMetricFiles, ThePieceThatIsToldTwiceCountsOnce) {
  MetricFiles files("loss");
  EXPECT_EQ(files.take("t.1", piece("l1", 0, "{\"a\": 1}\n"))->size(), 1u);
  EXPECT_EQ(files.take("t.1", piece("l1", 0, "{\"a\": 1}\n"))->size(), 1u) << "written anew";
  EXPECT_EQ(files.take("t.1", piece("l1", 50, "{\"a\": 1}\n"))->size(), 0u) << "a piece before it is missing";
}

TEST(FarmMetricFiles, TheDecidingScalarEndsAReport) {
  MetricFiles files("loss");
  const std::string bytes = record("\x09") + scalar("rate", 0.5f) + scalar("loss", 2) + scalar("loss", 1) +
                            scalar("accuracy", 0.75f);
  Reports reports;
  // In every possible division into two pieces.
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    reports.clear();
    for (const auto& one : {piece("e7", 0, bytes.substr(0, cut)), piece("e7", cut, bytes.substr(cut))}) {
      auto more = files.take("t.1", one);
      ASSERT_TRUE(more.ok()) << more.status().text();
      reports.insert(reports.end(), more->begin(), more->end());
    }
    ASSERT_EQ(reports.size(), 2u) << cut;
    EXPECT_EQ(Json::parse(reports[0]), (Json{{"rate", 0.5}, {"loss", 2.0}}));
    EXPECT_EQ(Json::parse(reports[1]), (Json{{"loss", 1.0}}));
    EXPECT_EQ(Json::parse(files.rest("t.1")), (Json{{"accuracy", 0.75}}));
  }
}

TEST(FarmMetricFiles, ADamagedFileIsToldOnce) {
  for (const size_t at : {size_t{0}, size_t{9}, size_t{14}, size_t{30}}) {  // length, checksums, data
    std::string bytes = scalar("loss", 2);
    ASSERT_LT(at, bytes.size());
    bytes[at] ^= 1;
    bytes += scalar("loss", 3);
    MetricFiles files("loss");
    auto first = files.take("t.1", piece("e1", 0, bytes));
    EXPECT_EQ(first.status().code(), Code::Corrupt) << at;
    auto second = files.take("t.1", piece("e1", bytes.size(), scalar("loss", 1)));
    ASSERT_TRUE(second.ok());
    EXPECT_TRUE(second->empty());
  }
}

TEST(FarmMetricFiles, WhatIsNoPieceIsRefused) {
  MetricFiles files("loss");
  for (const char* wrong : {"", " ", "l1", "l1 0", " 0 YQ==", "l1 0 *"})
    EXPECT_FALSE(files.take("t.1", wrong).ok()) << wrong;
}

TEST(FarmAgent, ReadsAPiece) {
  auto line = read_agent_line("piece t.1 e12 0 YWI=");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, AgentLine::Kind::Piece);
  EXPECT_EQ(line->text, "e12 0 YWI=");
}

}  // namespace
}  // namespace radl::farm
