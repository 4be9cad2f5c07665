#include "common/transfer/upload_note.h"

#include <unistd.h>

#include <cerrno>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/part_file.h"

namespace radl::transfer {

UploadNote::UploadNote(const std::string& path, const struct stat& info, const std::string& address,
                       const std::string& endpoint, uint64_t part_bytes)
    : path_(path + ".radl-upload-" + sha256_hex(endpoint + address).substr(0, 8) + ".json"),
      identity_({{"to", address},
                 {"endpoint", endpoint},
                 {"size", uint64_t(info.st_size)},
                 {"part", part_bytes},
                 {"inode", uint64_t(info.st_ino)},
                 {"modified", {int64_t(info.st_mtim.tv_sec), int64_t(info.st_mtim.tv_nsec)}}}) {}

UploadNote::~UploadNote() {
  if (fd_ >= 0) ::close(fd_);
}

Status UploadNote::open() {
  auto opened = open_part(path_);
  if (!opened.ok()) return opened.status().code() == Code::Conflict ? opened.status() : Status();
  fd_ = *opened;
  // Whoever has the URL of a session can write its object.
  if (::fchmod(fd_, 0600) != 0) return errno_status(errno, path_);
  auto text = read_file(path_, 1 << 16);
  const auto json = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!json.is_object() || !json.contains("upload") || !json["upload"].is_string()) return {};
  const std::string id = json["upload"].get<std::string>();
  (json.value("file", nlohmann::json()) == identity_ ? upload_ : stale_) = id;
  return {};
}

void UploadNote::begun(const std::string& upload) {
  upload_ = upload;
  if (fd_ < 0) return;
  const std::string text = nlohmann::json{{"upload", upload}, {"file", identity_}}.dump();
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, text.data(), text.size(), 0) < 0) return;
  ::fdatasync(fd_);
}

void UploadNote::remove() {
  if (fd_ >= 0) ::unlink(path_.c_str());
}

Status still_as_long(const std::string& path, uint64_t size) {
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0 || uint64_t(now.st_size) != size)
    return {Code::Conflict, path + " changed while it was uploaded"};
  return {};
}

}  // namespace radl::transfer
