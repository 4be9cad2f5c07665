#include "runtime/base/arriving_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

size_t entries(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ArrivingFolder, GoesWithItsOwnerAndIsLeftAloneUntilThen) {
  test::TemporaryFolder work;
  {
    ArrivingFolder first(work.path()), second(work.path());
    ASSERT_TRUE(first.open().ok());
    ASSERT_TRUE(second.open().ok());
    std::ofstream(first.path() + "/file") << "x";
    EXPECT_NE(first.path(), second.path());
    EXPECT_EQ(sweep_arriving_folders(work.path()), 0);
    EXPECT_TRUE(fs::exists(first.path() + "/file"));
  }
  EXPECT_EQ(entries(work.path()), 0u);
}

TEST(ArrivingFolder, WhatAKilledProcessHasLeftIsSwept) {
  test::TemporaryFolder work;
  fs::create_directory(work.path("trees"));
  std::ofstream(work.path("arriving-file")) << "no folder of ours";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    ArrivingFolder folder(work.path());
    const bool made = folder.open().ok() && fs::create_directories(folder.path() + "/files/deep");
    (void)!write(ready[1], made ? "y" : "n", 1);
    for (;;) pause();
  }
  char made = 'n';
  ASSERT_EQ(read(ready[0], &made, 1), 1);
  ASSERT_EQ(made, 'y');
  EXPECT_EQ(sweep_arriving_folders(work.path()), 0) << "its process lives";
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(entries(work.path()), 3u);
  EXPECT_EQ(sweep_arriving_folders(work.path()), 1);
  EXPECT_TRUE(fs::exists(work.path("trees")));
  EXPECT_TRUE(fs::exists(work.path("arriving-file")));
  EXPECT_EQ(entries(work.path()), 2u);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace radl
