// A crash-safe write leaves the old content or the new one, with the mode asked for.
#include "common/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "common/new_file.h"

namespace radl {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/radl_files_test_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(Files, WritesAndReadsBackWithMode) {
  std::string path = folder_ + "/secret";
  ASSERT_TRUE(write_file_atomic(path, "one", 0600).ok());
  ASSERT_TRUE(write_file_atomic(path, "two", 0600).ok());
  EXPECT_EQ(*read_file(path), "two");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  // No temporary file stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, AFailedWriteLeavesTheOldContent) {
  std::string path = folder_ + "/folder";
  ASSERT_TRUE(make_directories(path + "/inside").ok());
  Status status = write_file_atomic(path, "x");  // a folder with content cannot be replaced
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find(path), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, AUsersFileHasWhatTheUmaskLeaves) {
  auto mode_of = [&](const std::string& name) {
    struct stat info {};
    return ::stat((folder_ + "/" + name).c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  };
  mode_t before = ::umask(077);
  EXPECT_TRUE(write_user_file(folder_ + "/mine", "x").ok());
  EXPECT_TRUE(write_file_atomic(folder_ + "/exact", "x", 0644).ok());
  ::umask(022);
  EXPECT_TRUE(write_user_file(folder_ + "/shared", "x").ok());
  ::umask(before);
  EXPECT_EQ(mode_of("mine"), 0600u);
  EXPECT_EQ(mode_of("exact"), 0644u);
  EXPECT_EQ(mode_of("shared"), 0644u);
}

TEST_F(Files, AKilledWriterLeavesNothing) {
  int unnamed = ::open(folder_.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without a name";
  ::close(unnamed);
  int child = ::fork();
  if (child == 0) {
    NewFile file;
    bool written = file.create(folder_ + "/result").ok() && file.write("half").ok();
    ::kill(::getpid(), written ? SIGKILL : SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Files, ReadingSaysWhatIsWrong) {
  EXPECT_EQ(read_file(folder_ + "/none").status().code(), Code::NotFound);
  EXPECT_EQ(read_file(folder_).status().code(), Code::Invalid);
  ASSERT_TRUE(write_file_atomic(folder_ + "/big", std::string(1000, 'x')).ok());
  EXPECT_EQ(read_file(folder_ + "/big", 999).status().code(), Code::Quota);
  EXPECT_TRUE(read_file(folder_ + "/big", 1000).ok());
}

TEST_F(Files, DirectoriesAreMadeWithParentsAndNotOverFiles) {
  EXPECT_TRUE(make_directories(folder_ + "/a/b/c", 0700).ok());
  EXPECT_TRUE(make_directories(folder_ + "/a/b/c", 0700).ok());
  ASSERT_TRUE(write_file_atomic(folder_ + "/file", "x").ok());
  EXPECT_FALSE(make_directories(folder_ + "/file").ok());
  EXPECT_FALSE(make_directories(folder_ + "/file/below").ok());
}

}  // namespace
}  // namespace radl
