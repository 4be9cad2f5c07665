// Serializes processes in a state's folder while its database is created. Internal to runtime/state.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace radl {

// Holds flock(2) on a folder while it exists; released when the process ends. An empty path holds nothing.
class FolderTurn {
 public:
  explicit FolderTurn(const std::string& folder) {
    if (folder.empty()) return;
    fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderTurn() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderTurn(const FolderTurn&) = delete;
  FolderTurn& operator=(const FolderTurn&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace radl
