#include "runtime/base/arriving_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "common/digest.h"
#include "common/files.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArriving = "arriving-";

// Locked by this process, and still what the path leads to.
bool take(const std::string& path, Fd& lock) {
  lock.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat held {
  }, there{};
  if (lock.open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(lock.get(), &held) == 0 &&
      ::lstat(path.c_str(), &there) == 0 && held.st_ino == there.st_ino && held.st_dev == there.st_dev)
    return true;
  lock.reset();
  return false;
}

void remove(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

ArrivingFolder::~ArrivingFolder() {
  if (lock_.open()) remove(path_);
}

Status ArrivingFolder::open() {
  if (lock_.open()) return {};
  if (Status made = make_directories(work_, 0700); !made.ok()) return made;
  // One that is swept before it is locked is made again.
  for (int tries = 0; tries < 10; ++tries) {
    path_ = work_ + "/" + std::string(kArriving) + to_hex(random_bytes(4));
    if (::mkdir(path_.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      return errno_status(errno, path_);
    }
    if (take(path_, lock_)) return {};
    remove(path_);
  }
  return {Code::Retry, path_ + ": the folder cannot be locked"};
}

int sweep_arriving_folders(const std::string& work) {
  std::vector<std::string> left;
  std::error_code error;
  for (fs::directory_iterator at(work, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().native().starts_with(kArriving)) left.push_back(at->path());
  }
  int removed = 0;
  for (const std::string& path : left) {
    Fd lock;
    if (!take(path, lock)) continue;
    remove(path);
    ++removed;
  }
  return removed;
}

}  // namespace radl
