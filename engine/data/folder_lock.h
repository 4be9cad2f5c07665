// Lets one process at a time fill a folder. The others wait and then find it filled.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>

#include "common/files.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Holds FOLDER/.lock while this object exists. Logs once if it has to wait. Cancelled during the wait.
  Status take(const std::string& folder, const std::function<void(const std::string& line)>& say = {},
              const Stop& stop = {}) {
    const std::string path = folder + "/.lock";
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) return errno_status(errno, path);
    for (bool said = false; ::flock(fd_, LOCK_EX | LOCK_NB) != 0;) {
      if (errno != EWOULDBLOCK && errno != EINTR) return errno_status(errno, path);
      if (!said && say) say("waiting: another process is filling " + folder);
      said = true;
      if (!stop.sleep(std::chrono::milliseconds(100))) return stop.check();
    }
    return {};
  }

 private:
  int fd_ = -1;
};

}  // namespace radl::engine::data
