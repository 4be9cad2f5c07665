#include "common/transfer/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/files.h"

namespace radl::transfer {
namespace {

bool still_named(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

Result<int> open_part(const std::string& path, const std::function<void()>& between) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return errno_status(errno, path);
    if (between) between();
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(fd);
      if (error == EWOULDBLOCK) return Status(Code::Conflict, path + " is locked by another process");
      return errno_status(error, path);
    }
    if (still_named(fd, path)) return fd;
    ::close(fd);
  }
}

}  // namespace radl::transfer
