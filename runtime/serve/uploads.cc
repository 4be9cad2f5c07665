#include "runtime/serve/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "common/files.h"

namespace radl::serve {
namespace {

constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // an upload leaves as much of the disk

bool has_room(const std::string& folder, uint64_t bytes) {
  struct statvfs about {};
  if (::statvfs(folder.c_str(), &about) != 0) return true;
  const uint64_t room = uint64_t(about.f_bavail) * about.f_frsize;
  return room >= kSpareBytes && room - kSpareBytes >= bytes;
}

Status superseded() { return Status(Code::Conflict, "a newer upload of this file is in progress"); }

}  // namespace

void Uploads::add_used(const std::string& folder, Used& used) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::directory_entry& entry = *at;
    std::error_code gone;
    const bool regular = entry.is_regular_file(gone) && !entry.is_symlink(gone);
    const uint64_t size = regular ? entry.file_size(gone) : 0;
    if (!regular || gone) continue;
    used.bytes += size;
    ++used.files;
  }
}

Result<std::unique_ptr<Uploads::Upload>> Uploads::begin(const std::string& path, const std::string& user,
                                                        const Used& used, const Part& part,
                                                        uint64_t& expected) {
  const auto [offset, total, executable] = part;
  if (offset > total) return invalid("'offset' is greater than 'total'");
  std::shared_ptr<File> file;
  uint64_t of_user = 0, of_all = 0;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(files_, [](const auto& one) { return one.second.use_count() == 1; });
    for (const auto& [other, its] : files_) {
      if (other == path) continue;
      of_all += its->remaining;
      if (its->user == user) of_user += its->remaining;
    }
    auto& place = files_[path];
    if (!place) place = std::make_shared<File>(user);
    file = place;
  }
  const uint64_t more = total - offset;
  if (more > kOfOneUser || used.bytes + of_user > kOfOneUser - more)
    return Status(Code::Quota, "your files would take more than " + std::to_string(kOfOneUser >> 30) + " GiB")
        .with_hint("remove infrastructures that you do not need");
  std::error_code error;
  if (used.files >= kFilesOfOneUser && !std::filesystem::exists(path, error) &&
      !std::filesystem::exists(path + ".part", error))
    return Status(Code::Quota, "you have " + std::to_string(kFilesOfOneUser) + " files, the limit")
        .with_hint("upload many files as one archive, or remove infrastructures that you do not need");
  const std::string folder = std::filesystem::path(path).parent_path();
  if (offset == 0)
    if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  if (of_all > UINT64_MAX - more || !has_room(folder, more + of_all))
    return Status(Code::Quota, "the disk of the service has no room for it");
  std::lock_guard lock(file->mutex);
  const int create = offset == 0 ? O_CREAT : 0;
  auto fd = std::make_unique<Fd>(
      ::open((path + ".part").c_str(), O_WRONLY | create | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd->open() && errno == ENOENT && offset > 0) {
    expected = 0;
    return Status(Code::Conflict, "expected offset 0");
  }
  struct stat about {};
  if (!fd->open() || ::fstat(fd->get(), &about) != 0) return errno_status(errno, "writing the upload");
  expected = offset == 0 ? 0 : uint64_t(about.st_size);
  if (expected != offset) return Status(Code::Conflict, "expected offset " + std::to_string(expected));
  if (offset == 0 && ::ftruncate(fd->get(), 0) != 0) return errno_status(errno, "writing the upload");
  file->remaining = more;
  return std::make_unique<Upload>(path, file, std::move(fd), ++file->turn, part);
}

Uploads::Upload::Upload(std::string path, std::shared_ptr<File> file, std::unique_ptr<Fd> fd, uint64_t turn,
                        const Part& part)
    : path_(std::move(path)),
      file_(std::move(file)),
      fd_(std::move(fd)),
      turn_(turn),
      total_(part.total),
      executable_(part.executable),
      size_(part.offset) {}

Uploads::Upload::~Upload() {
  std::lock_guard lock(file_->mutex);
  if (is_newest()) file_->remaining = 0;
}

Status Uploads::Upload::write(std::string_view part) {
  std::lock_guard lock(file_->mutex);
  if (!is_newest()) return superseded();
  if (part.size() > total_ - size_) return invalid("the body is longer than 'total' says");
  while (!part.empty()) {
    const ssize_t wrote = ::pwrite(fd_->get(), part.data(), part.size(), off_t(size_));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno_status(errno, "writing the upload");
    size_ += uint64_t(wrote);
    file_->remaining -= uint64_t(wrote);
    part.remove_prefix(size_t(wrote));
  }
  return {};
}

// That no other upload has the file, or has changed or replaced it.
Status Uploads::Upload::check_whole() const {
  if (!is_newest()) return superseded();
  const std::string part = path_ + ".part";
  struct stat mine {
  }, there{};
  if (::fstat(fd_->get(), &mine) != 0 || ::lstat(part.c_str(), &there) != 0)
    return errno_status(errno, "completing the upload");
  if (mine.st_ino != there.st_ino || mine.st_dev != there.st_dev || uint64_t(mine.st_size) != total_)
    return Status(Code::Conflict, "the upload was changed meanwhile").with_hint("upload the file again");
  return {};
}

Result<bool> Uploads::Upload::finish() {
  std::unique_lock lock(file_->mutex);
  if (!is_newest()) return superseded();
  if (size_ != total_) return false;
  if (Status whole = check_whole(); !whole.ok()) return whole;
  lock.unlock();  // a large file takes the disk minutes, and begin() must not wait for that
  if (::fsync(fd_->get()) != 0) return errno_status(errno, "completing the upload");
  lock.lock();
  if (Status whole = check_whole(); !whole.ok()) return whole;
  if (executable_ && ::fchmod(fd_->get(), 0700) != 0) return errno_status(errno, "completing the upload");
  if (::rename((path_ + ".part").c_str(), path_.c_str()) != 0)
    return errno_status(errno, "completing the upload");
  return true;
}

}  // namespace radl::serve
