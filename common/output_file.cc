#include "common/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/files.h"
#include "common/new_file.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

// `path` as the user has named it, for messages.
Status renamed(Status status, const std::string& target, const std::string& path) {
  if (status.ok() || target == path || !status.message().starts_with(target)) return status;
  return {status.code(), path + status.message().substr(target.size())};
}

Status write_in_place(const std::string& path, std::string_view content, int flags) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
  if (fd < 0) return errno_status(errno, path);
  Status done = write_all(fd, content, path);
  // Some file systems report a full disk only here. Pipes and devices have nothing to sync.
  if (done.ok() && ::fsync(fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
    done = errno_status(errno, path);
  ::close(fd);
  return done;
}

// "/proc/self/fd/1", also through /dev/fd: a file that is already open.
bool is_open_file(const fs::path& path) {
  std::error_code error;
  fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  fs::path open_files = fs::canonical("/proc/self/fd", error);
  return !error && fs::weakly_canonical(folder, error) == open_files;
}

// Where the links from `path` lead to, which need not be there: as opening it would follow them.
Result<std::string> link_target(const std::string& path) {
  fs::path at(path);
  std::error_code error;
  for (int links = 0; !is_open_file(at) && fs::is_symlink(at, error); ++links) {
    if (links == 40) return errno_status(ELOOP, path);
    fs::path next = fs::read_symlink(at, error);
    if (error) return errno_status(error.value(), path);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at.string();
}

// Replaces `path` with a new file, with the mode and owner of an existing one.
Status replace(const std::string& path, std::string_view content, unsigned mode, const struct stat* old) {
  NewFile file;
  if (Status s = file.create(path, old != nullptr ? 0600 : mode); !s.ok()) return s;
  if (old != nullptr) {
    bool other_owner = old->st_uid != ::geteuid() || old->st_gid != ::getegid();
    if (other_owner && ::fchown(file.descriptor(), old->st_uid, old->st_gid) != 0)
      return errno_status(errno, path);
    if (Status s = file.set_mode(old->st_mode & 07777); !s.ok()) return s;
  }
  if (Status s = file.write(content); !s.ok()) return s;
  return file.commit();
}

}  // namespace

Status may_write_output(const std::string& path, std::string_view content, const OutputRules& rules) {
  struct stat info {};
  if (rules.force || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
    return {};
  Result<std::string> target = link_target(path);
  if (!target.ok() || is_open_file(*target)) return {};  // writing it says what is wrong
  Result<std::string> old = read_file(path, static_cast<size_t>(info.st_size) + 1);
  if (old.ok() && (*old == content || (rules.ours && rules.ours(*old)))) return {};
  return {Code::Exists, path + " exists, and was not written by this program"};
}

Status write_output_file(const std::string& path, std::string_view content, const OutputRules& rules) {
  struct stat info {};
  bool there = ::stat(path.c_str(), &info) == 0;
  if (!there && errno != ENOENT) return errno_status(errno, path);
  if (there && !S_ISREG(info.st_mode)) return write_in_place(path, content, 0);
  Result<std::string> target = link_target(path);
  if (!target.ok()) return std::move(target).status();
  if (is_open_file(*target)) return write_in_place(path, content, O_APPEND);
  if (!there) return renamed(replace(*target, content, rules.new_mode, nullptr), *target, path);
  if (Status may = may_write_output(path, content, rules); !may.ok()) return may;
  // A file without write permission is not replaced either.
  if (::access(path.c_str(), W_OK) != 0) return errno_status(errno, path);
  if (info.st_nlink == 1) {
    Status replaced = replace(*target, content, rules.new_mode, &info);
    // Another user's file, or a read-only folder: the file itself may still be writable.
    if (replaced.code() != Code::Auth) return renamed(std::move(replaced), *target, path);
  }
  return write_in_place(path, content, O_TRUNC);
}

}  // namespace radl
