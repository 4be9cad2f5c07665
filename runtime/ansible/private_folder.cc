#include "runtime/ansible/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/files.h"

namespace radl::recipes {

namespace fs = std::filesystem;

Status PrivateFolder::make(const std::string& prefix, bool stale) {
  std::error_code ignored;
  if (stale) {
    fs::path begin(prefix + "-");
    for (const auto& entry : fs::directory_iterator(begin.parent_path(), ignored)) {
      struct stat info {};
      bool mine = lstat(entry.path().c_str(), &info) == 0 && info.st_uid == geteuid();
      if (mine && entry.path().filename().string().starts_with(begin.filename().string()))
        fs::remove_all(entry.path(), ignored);
    }
  }
  std::string name = prefix + "-XXXXXX";
  if (!mkdtemp(name.data())) return errno_status(errno, name);
  path_ = name;
  return {};
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

// What ssh puts behind the folder: '/', a hash of 40 digits, a suffix of 17 while it binds, the closing NUL.
constexpr size_t kSocketName = 1 + 40 + 17 + 1;
constexpr size_t kLongestFolder = sizeof(sockaddr_un::sun_path) - kSocketName;

// Not so where /proc is missing or shows the processes of another PID namespace.
bool same_folder(const std::string& path, int fd) {
  struct stat named {
  }, opened{};
  return stat(path.c_str(), &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

}  // namespace

Status ShortPath::open(const std::string& folder) {
  if (Status s = make_directories(folder, 0700); !s.ok()) return s;
  path_ = folder;
  if (folder.size() <= kLongestFolder) return {};
  fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) return errno_status(errno, folder);
  path_ = fmt::format("/proc/{}/fd/{}", ::getpid(), fd_);
  if (same_folder(path_, fd_)) return {};
  return {
      Code::Invalid,
      fmt::format("{}: the path is too long for the sockets of ssh ({} bytes, at most {}), and /proc, which "
                  "would give it a short name, does not show this process: choose a shorter --state",
                  folder, folder.size(), kLongestFolder)};
}

ShortPath::~ShortPath() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace radl::recipes
