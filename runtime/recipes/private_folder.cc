#include "runtime/recipes/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

Status ShortPath::open(const std::string& folder) {
  if (Status s = make_directories(folder, 0700); !s.ok()) return s;
  fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd_ < 0 ? errno_status(errno, folder) : Status();
}

ShortPath::~ShortPath() {
  if (fd_ >= 0) ::close(fd_);
}

std::string ShortPath::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_); }

}  // namespace radl::recipes
