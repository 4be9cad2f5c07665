// Resumable downloads against a server that misbehaves on purpose.
#include "common/transfer/download.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/part_file.h"
#include "tests/support/scripted_server.h"

namespace radl::transfer {
namespace {

using test::header_of;
using test::http_answer;
using test::ScriptedServer;

const http::Retries kQuick{4, 0.01, 0.05};

struct Scratch {
  std::string path = testing::TempDir() + "http-" + to_hex(random_bytes(6));
  Scratch() { std::filesystem::create_directories(path); }
  ~Scratch() { std::filesystem::remove_all(path); }
  size_t files() const {
    size_t n = 0;
    for (auto& e : std::filesystem::directory_iterator(path)) n += e.exists();
    return n;
  }
};

std::string content() {
  std::string s;
  for (int i = 0; i < 20000; ++i) s += std::to_string(i * 7919) + ",";
  return s;
}

// Serves content() with ranges; the first `cuts` answers break off after a third of what was asked for.
ScriptedServer::Answer ranged(int cuts, std::string etag = "\"v1\"") {
  auto left = std::make_shared<std::atomic<int>>(cuts);
  return [left, etag, all = content()](const std::string& request) {
    std::string range = header_of(request, "Range"), condition = header_of(request, "If-Range");
    size_t begin = range.empty() ? 0 : std::stoul(range.substr(6));
    if (!condition.empty() && condition != etag) begin = 0;
    std::string head = "ETag: " + etag + "\r\n", body = all.substr(begin);
    if (begin > 0)
      head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(all.size() - 1) + "/" +
              std::to_string(all.size()) + "\r\n";
    std::string whole = http_answer(begin > 0 ? 206 : 200, head, body);
    return (*left)-- > 0 ? whole.substr(0, whole.size() - body.size() * 2 / 3) : whole;
  };
}

TEST(PartFile, AFileThatAnotherProcessFinishedMeanwhileIsLeftAlone) {
  const std::string folder = testing::TempDir() + "part-" + to_hex(random_bytes(6)),
                    part = folder + "/x.part";
  ASSERT_TRUE(make_directories(folder).ok());
  ASSERT_TRUE(write_file_atomic(part, "whole").ok());
  int calls = 0;
  auto fd = open_part(part, [&] {
    if (++calls == 1) {
      ASSERT_EQ(::rename(part.c_str(), (folder + "/x").c_str()), 0);
    }
  });
  ASSERT_TRUE(fd.ok()) << fd.status().text();
  ASSERT_EQ(::ftruncate(*fd, 0), 0);
  EXPECT_EQ(*read_file(folder + "/x"), "whole");
  EXPECT_EQ(open_part(part).status().code(), Code::Conflict);  // held
  ::close(*fd);
}

TEST(Download, GoesOnWhereItBroke) {
  Scratch f;
  ScriptedServer server(ranged(3));
  http::Client http{environment_of_process()};
  Status s = download(
      http,
      {.url = server.url("/x"), .path = f.path + "/x", .sha256 = sha256_hex(content()), .retries = kQuick});
  ASSERT_TRUE(s.ok()) << s.text();
  EXPECT_EQ(*read_file(f.path + "/x"), content());
  EXPECT_EQ(f.files(), 1u);
  auto seen = server.requests();
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(header_of(seen[0], "Range"), "");
  EXPECT_NE(header_of(seen[1], "Range"), "");
  EXPECT_EQ(header_of(seen[1], "If-Range"), "\"v1\"");
  // A second call finds it and sends no request.
  ASSERT_TRUE(
      download(http, {.url = server.url("/x"), .path = f.path + "/x", .sha256 = sha256_hex(content())}).ok());
  EXPECT_EQ(server.requests().size(), 4u);
}

TEST(Download, AnotherCallContinuesAndAChangedFileStartsAnew) {
  Scratch f;
  http::Client http{environment_of_process()};
  Download d{.path = f.path + "/x", .retries = {1, 0.01, 0.01}};
  {
    ScriptedServer server(ranged(100));
    d.url = server.url("/x");
    // One attempt that moved is followed by another as long as it moves: cut it by cancelling.
    StopSource stop;
    d.stop = stop.token();
    d.progress = [&](uint64_t done, uint64_t) {
      if (done > 1000) stop.request();
    };
    EXPECT_FALSE(download(http, d).ok());
    EXPECT_FALSE(std::filesystem::exists(f.path + "/x"));
    EXPECT_TRUE(std::filesystem::exists(f.path + "/x.part"));
  }
  d.stop = {};
  d.progress = nullptr;
  // The same URL cannot be had again in this test (ports are random), so the note is of another one: starts
  // anew.
  ScriptedServer changed(ranged(0, "\"v2\""));
  d.url = changed.url("/x");
  ASSERT_TRUE(download(http, d).ok());
  EXPECT_EQ(*read_file(f.path + "/x"), content());
  EXPECT_EQ(header_of(changed.requests().at(0), "Range"), "");
}

TEST(Download, WithAnETagThatChangedInBetweenNothingIsMixed) {
  Scratch f;
  http::Client http{environment_of_process()};
  std::atomic<int> n{0};
  std::string old_content(50000, 'o');
  ScriptedServer server([&](const std::string& request) {
    if (n++ == 0) {
      std::string whole = http_answer(200, "ETag: \"old\"\r\n", old_content);
      return whole.substr(0, whole.size() - 20000);
    }
    return ranged(0, "\"new\"")(request);
  });
  ASSERT_TRUE(download(http, {.url = server.url("/x"), .path = f.path + "/x", .retries = kQuick}).ok());
  EXPECT_EQ(*read_file(f.path + "/x"), content());
}

TEST(Download, AWrongChecksumIsCorruptAndLeavesNothing) {
  Scratch f;
  ScriptedServer server(ranged(0));
  http::Client http{environment_of_process()};
  Status s = download(
      http,
      {.url = server.url("/x"), .path = f.path + "/x", .sha256 = std::string(64, 'a'), .retries = kQuick});
  EXPECT_EQ(s.code(), Code::Corrupt);
  EXPECT_NE(s.message().find(std::string(64, 'a')), std::string::npos);
  EXPECT_EQ(f.files(), 0u);
}

TEST(Download, AMissingFileIsNotFoundAndLeavesNothing) {
  Scratch f;
  ScriptedServer server([](const std::string&) { return http_answer(404, "", "gone"); });
  http::Client http{environment_of_process()};
  EXPECT_EQ(download(http, {.url = server.url("/x"), .path = f.path + "/x", .retries = kQuick}).code(),
            Code::NotFound);
  EXPECT_EQ(f.files(), 0u);
}

TEST(Download, AnAnswerWithoutAFileIsNoFile) {
  Scratch f;
  ScriptedServer server([](const std::string&) { return http_answer(204, "", ""); });
  http::Client http{environment_of_process()};
  EXPECT_EQ(download(http, {.url = server.url("/x"), .path = f.path + "/x", .retries = kQuick}).code(),
            Code::Corrupt);
  EXPECT_EQ(f.files(), 0u);
}

TEST(Download, AServerThatIsAwayForLongIsNotWaitedFor) {
  Scratch f;
  ScriptedServer server([](const std::string&) { return http_answer(503, "Retry-After: 3600\r\n", ""); });
  http::Client http{environment_of_process()};
  EXPECT_EQ(download(http, {.url = server.url("/x"), .path = f.path + "/x", .retries = kQuick}).code(),
            Code::Retry);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Download, MoreThanExpectedIsQuota) {
  Scratch f;
  ScriptedServer server(ranged(0));
  http::Client http{environment_of_process()};
  EXPECT_EQ(
      download(http, {.url = server.url("/x"), .path = f.path + "/x", .largest = 100, .retries = kQuick})
          .code(),
      Code::Quota);
  EXPECT_FALSE(std::filesystem::exists(f.path + "/x"));
}

}  // namespace
}  // namespace radl::transfer
