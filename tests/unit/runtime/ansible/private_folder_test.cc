// Folders for the sockets of ssh: any path of a user's serves.
#include "runtime/ansible/private_folder.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace radl::recipes {
namespace {

// As ssh names it while it binds.
bool takes_a_socket(const std::string& folder) {
  std::string path = folder + "/" + std::string(40, 'c') + "." + std::string(16, 'r');
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  path.copy(address.sun_path, path.size());
  int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(fd);
  return bound;
}

TEST(ShortPath, AShortFolderKeepsItsName) {
  test::TemporaryFolder folder;
  std::string name = folder.path() + "/s";
  ShortPath path;
  ASSERT_TRUE(path.open(name).ok());
  EXPECT_EQ(path.path(), name);
  EXPECT_TRUE(takes_a_socket(path.path()));
}

TEST(ShortPath, AFolderOfAnyLengthTakesSockets) {
  test::TemporaryFolder folder;
  for (int length = 1; length < 200; length += 9) {
    std::string name = folder.path() + "/" + std::string(length, 'x');
    ShortPath path;
    ASSERT_TRUE(path.open(name).ok()) << name;
    EXPECT_TRUE(std::filesystem::equivalent(path.path(), name));
    EXPECT_TRUE(takes_a_socket(path.path())) << path.path();
  }
}

}  // namespace
}  // namespace radl::recipes
