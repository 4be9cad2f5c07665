#include "common/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"

namespace radl {
namespace {

std::string folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string temporary_name(const std::string& path) { return path + ".tmp-" + to_hex(random_bytes(4)); }

// By number, not /proc/self: a program that we start reaches it too.
std::string descriptor_path(int fd) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd);
}

}  // namespace

NewFile::~NewFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status NewFile::create(const std::string& path, unsigned mode) {
  path_ = path;
  fd_ = ::open(folder_of(path).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
  if (fd_ >= 0) {
    struct stat opened {
    }, seen{};
    if (::fstat(fd_, &opened) == 0 && ::stat(descriptor_path(fd_).c_str(), &seen) == 0 &&
        opened.st_ino == seen.st_ino && opened.st_dev == seen.st_dev)
      return {};
    ::close(fd_);  // no /proc, or another's: it could not be given a name
  }
  temporary_ = temporary_name(path);
  fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd_ >= 0) return {};
  Status failed = errno_status(errno, path);
  temporary_.clear();
  return failed;
}

Status NewFile::write(std::string_view bytes) { return write_all(fd_, bytes, path_); }

Status NewFile::set_mode(unsigned mode) {
  return ::fchmod(fd_, mode) == 0 ? Status() : errno_status(errno, path_);
}

std::string NewFile::content_path() const { return temporary_.empty() ? descriptor_path(fd_) : temporary_; }

Status NewFile::give_name() {
  std::string name = temporary_name(path_);
  if (::linkat(AT_FDCWD, descriptor_path(fd_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return errno_status(errno, path_);
  temporary_ = name;
  return {};
}

Status NewFile::commit() {
  if (::fsync(fd_) != 0) return errno_status(errno, path_);
  if (temporary_.empty()) {
    if (Status s = give_name(); !s.ok()) return s;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return errno_status(errno, path_);
  temporary_.clear();
  int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return {};
  ::fsync(folder);  // some file systems cannot
  ::close(folder);
  return {};
}

Status write_user_file(const std::string& path, std::string_view content) {
  NewFile file;
  if (Status s = file.create(path); !s.ok()) return s;
  if (Status s = file.write(content); !s.ok()) return s;
  return file.commit();
}

}  // namespace radl
