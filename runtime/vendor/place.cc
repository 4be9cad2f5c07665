#include "runtime/vendor/place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/tidy_path.h"

namespace radl::vendored {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".tmp-";

Status sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  Status status = synced ? ok_status() : errno_status(errno, folder);
  if (fd >= 0) ::close(fd);
  return status;
}

bool digest_is_in_name(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const size_t dash = name.rfind('-');
  if (dash == name.npos || name.size() - dash != 13) return false;
  auto content = read_content(folder.string());
  return content.ok() && content_digest(*content).starts_with(name.substr(dash + 1));
}

}  // namespace

Place::Place(std::string project, int descriptor) : project_(std::move(project)), descriptor_(descriptor) {}

Place::~Place() {
  remove_temporary();
  ::close(descriptor_);
}

std::string Place::path(const std::string& below) const {
  return tidy_path((project_.empty() ? "." : project_) + "/" + below);
}

Result<std::unique_ptr<Place>> Place::open(const std::string& project, const Stop& stop) {
  const std::string folder = project.empty() ? "." : project;
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, folder);
  std::unique_ptr<Place> place(new Place(project, fd));
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return errno_status(errno, folder);
    if (!stop.sleep(std::chrono::milliseconds(100))) return stop.check();
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(place->path(std::string(kFolder)), error)) {
    std::error_code ignored;  // it is tried again by the next one
    if (entry.path().filename().string().starts_with(kTemporary)) fs::remove_all(entry.path(), ignored);
  }
  return place;
}

bool Place::holds(const Package& package) const {
  auto content = read_content(path(package.folder()));
  return content.ok() && content_digest(*content) == package.sha256;
}

void Place::remove_temporary() {
  std::error_code error;
  if (!temporary_.empty()) fs::remove_all(temporary_, error);
  temporary_.clear();
}

Result<std::string> Place::temporary() {
  remove_temporary();
  temporary_ = path(fmt::format("{}/{}{}", kFolder, kTemporary, to_hex(random_bytes(8))));
  if (Status made = make_directories(temporary_); !made.ok()) return made;
  return temporary_;
}

Status Place::install(const Package& package, const Content& content) {
  if (temporary_.empty()) {
    if (auto made = temporary(); !made.ok()) return std::move(made).status();
  }
  const std::string made = temporary_ + "/content", place = path(package.folder());
  if (Status written = write_content(made, content); !written.ok()) return written;
  if (::rename(made.c_str(), place.c_str()) != 0) {
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return errno_status(errno, place);
    // What is there differs from what is locked. Where folders cannot be exchanged it is away for a moment.
    const std::string old = temporary_ + "/old";
    if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0 &&
        (::rename(place.c_str(), old.c_str()) != 0 || ::rename(made.c_str(), place.c_str()) != 0))
      return errno_status(errno, place);
  }
  return sync_folder(path(std::string(kFolder)));
}

Status Place::write(const LockFile& lock) { return write_file_atomic(lock_path(project_), lock_text(lock)); }

void Place::remove_others(const LockFile& lock) {
  std::error_code error;
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(path(std::string(kFolder)), error)) {
    const std::string name = fmt::format("{}/{}", kFolder, entry.path().filename().string());
    const bool used = std::any_of(lock.packages.begin(), lock.packages.end(),
                                  [&](const Package& package) { return package.folder() == name; });
    if (!used && digest_is_in_name(entry.path())) others.push_back(entry.path());
  }
  for (const fs::path& folder : others) {
    // Written out of sight first, so that no reader finds a part of it.
    auto away = temporary();
    if (away.ok() && ::rename(folder.c_str(), (*away + "/old").c_str()) == 0) remove_temporary();
  }
}

}  // namespace radl::vendored
