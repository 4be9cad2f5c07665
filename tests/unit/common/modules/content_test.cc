// What a package may hold, what its digest covers, and the lock file that pins it.
#include "common/modules/content.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/files.h"
#include "common/modules/lock_file.h"

namespace radl::vendored {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/radl-vendored-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

Content small() {
  Content content;
  EXPECT_TRUE(add_file(content, "web/server.radl", {File::Kind::Plain, "radl 2\n"}).ok());
  EXPECT_TRUE(add_file(content, "run", {File::Kind::Program, "#!/bin/sh\n"}).ok());
  EXPECT_TRUE(add_file(content, "web/link", {File::Kind::Link, "../run"}).ok());
  return content;
}

using PackageContent = Folder;

TEST_F(PackageContent, IsReadAsItWasWritten) {
  const std::string at = folder_ / "package";
  ASSERT_TRUE(write_content(at, small()).ok());
  auto read = read_content(at);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(content_digest(*read), content_digest(small()));
  EXPECT_EQ(read_content(folder_ / "nowhere").status().code(), Code::NotFound);
}

TEST_F(PackageContent, EveryChangeChangesTheDigest) {
  const std::string before = content_digest(small());
  Content renamed = small(), changed = small(), more = small(), mode = small(), link = small();
  auto node = renamed.extract("run");
  node.key() = "ran";
  renamed.insert(std::move(node));
  changed["run"].bytes += " ";
  more["empty"];
  mode["run"].kind = File::Kind::Plain;
  link["web/link"].bytes = "server.radl";
  for (const Content& other : {renamed, changed, more, mode, link}) EXPECT_NE(content_digest(other), before);
}

// A digest that means another thing tomorrow would make every lock file wrong.
TEST_F(PackageContent, TheDigestStaysTheSameInAllVersions) {
  EXPECT_EQ(content_digest({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Content one;
  ASSERT_TRUE(add_file(one, "a", {File::Kind::Plain, "b"}).ok());
  EXPECT_EQ(content_digest(one), "cd79ceccbd253ebb7fd4cb40caa79fa1a25cf3638ea31beb6e765e43caf7bf20");
}

TEST_F(PackageContent, NothingLeadsOut) {
  Content content = small();
  for (const char* path : {"", "/a", "../a", "a/../b", "a//b", "./a", "run"})
    EXPECT_FALSE(add_file(content, path, {}).ok()) << path;
  for (const char* target : {"", "/etc", "../../x", "a/../../x", "b/../c"})
    EXPECT_FALSE(add_file(content, "web/l", {File::Kind::Link, target}).ok()) << target;
  EXPECT_TRUE(add_file(content, "web/l", {File::Kind::Link, ".././run"}).ok());
}

TEST_F(PackageContent, AFileBehindALinkIsNotWritten) {
  Content content = small();
  ASSERT_TRUE(add_file(content, "web/link/file", {}).ok());
  EXPECT_FALSE(write_content(folder_ / "package", content).ok());
}

TEST_F(PackageContent, WhatSpeaksToGitIsKnown) {
  for (const char* path : {".git/config", "a/.gitignore", ".gitattributes", ".GIT/x"})
    EXPECT_TRUE(is_for_git(path)) << path;
  EXPECT_FALSE(is_for_git("a/git/x.git"));
}

using Lock = Folder;

Package package(const std::string& address) {
  return {address, address.starts_with("git::") ? std::string(40, 'a') : "", std::string(64, 'b'),
          "2026-01-31T09:00:00Z"};
}

TEST_F(Lock, IsReadAsItWasWritten) {
  LockFile lock;
  for (const char* address : {"https://host/b.zip", "git::https://host/a.git@v1"}) lock.put(package(address));
  ASSERT_TRUE(write_file_atomic(lock_path(folder_), lock_text(lock)).ok());
  auto read = read_lock_file(folder_);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(lock_text(*read), lock_text(lock));
  ASSERT_NE(read->find("https://host/b.zip"), nullptr);
  EXPECT_EQ(read->find("https://host/b.zip")->folder(), "modules/vendored/b-bbbbbbbbbbbb");
  EXPECT_EQ(read->find("https://host/c.zip"), nullptr);
}

TEST_F(Lock, NoneIsAnEmptyOne) {
  auto read = read_lock_file(folder_);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->packages.empty());
}

TEST_F(Lock, WhatVendorNeverWritesIsRefused) {
  LockFile lock;
  lock.put(package("git::https://host/a.git@v1"));
  const std::string text = lock_text(lock);
  auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {std::string(), std::string("[]"), text.substr(0, 50), "<<<<<<< ours\n" + text,
        with("\"version\": 1", "\"version\": 2"), with("modules/vendored/a", "../../a"),
        with(std::string(40, 'a'), "main"), with(std::string(64, 'b'), "none")}) {
    ASSERT_TRUE(write_file_atomic(lock_path(folder_), bad).ok());
    EXPECT_EQ(read_lock_file(folder_).status().code(), Code::Corrupt) << bad;
  }
}

}  // namespace
}  // namespace radl::vendored
