// Two processes download to one path: the second opens the part just before the first gives it its name.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/download.h"

namespace {
std::function<void()>& before_lock() {
  static std::function<void()> hook;
  return hook;
}
}  // namespace

// In place of the C library's: what the other process does happens between our open and our lock.
extern "C" int flock(int fd, int operation) {
  if (auto hook = std::exchange(before_lock(), nullptr)) hook();
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}

namespace radl::transfer {
namespace {

struct DownloadLock : testing::Test {
  void SetUp() override {
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(write_file_atomic(path + ".part", "finished").ok());
    before_lock() = [this] { std::filesystem::rename(path + ".part", path); };
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder = testing::TempDir() + "lock-" + to_hex(random_bytes(6)), path = folder + "/x";
  Download what{.url = "http://127.0.0.1:1/x", .path = path, .retries = {1, 0.01, 0.01}};
  http::Client http{environment_of_process()};
};

TEST_F(DownloadLock, AFileThatAnotherFinishedIsNotWrittenTo) {
  EXPECT_FALSE(download(http, what).ok()) << "nobody listens there";
  EXPECT_EQ(*read_file(path), "finished");
}

TEST_F(DownloadLock, WhatAnotherFinishedNeedNotBeFetched) {
  what.sha256 = sha256_hex("finished");
  Status got = download(http, what);
  EXPECT_TRUE(got.ok()) << got.text();
  EXPECT_EQ(*read_file(path), "finished");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

}  // namespace
}  // namespace radl::transfer
