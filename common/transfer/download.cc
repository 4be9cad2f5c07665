#include "common/transfer/download.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/answers.h"

namespace radl::transfer {
namespace {

namespace fs = std::filesystem;

// The file that the bytes go into until they are all there.
class Part {
 public:
  explicit Part(const Download& what) : what_(what), path_(what.path + ".part"), note_(path_ + ".json") {}
  ~Part() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status open() {
    struct stat info {};
    if (Status s = open_locked(info); !s.ok()) return s;
    auto note = read_file(note_, 1 << 16);
    if (note.ok()) {
      auto json = nlohmann::json::parse(*note, nullptr, false);
      if (json.is_object() && json.value("url", "") == identity()) validator_ = json.value("validator", "");
    }
    // Without a validator nobody can tell that the rest belongs to the beginning, except the checksum.
    if (validator_.empty() && what_.sha256.empty()) return restart();
    size_ = uint64_t(info.st_size);
    return {};
  }
  // The part, ours alone. One that its owner finished between our open and our lock is the finished file by
  // then, and must not be written to: what has the part's name now is another.
  Status open_locked(struct stat& info) {
    for (;;) {
      fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (fd_ < 0) return errno_status(errno, path_);
      if (::flock(fd_, LOCK_EX | LOCK_NB) != 0)
        return Status(Code::Conflict, what_.path + ": another process is downloading it");
      if (::fstat(fd_, &info) != 0) return errno_status(errno, path_);
      struct stat named {};
      bool there = ::stat(path_.c_str(), &named) == 0;
      if (there && named.st_dev == info.st_dev && named.st_ino == info.st_ino) return {};
      ::close(fd_);
    }
  }
  Status restart() {
    size_ = 0;
    return ::ftruncate(fd_, 0) == 0 ? Status() : errno_status(errno, path_);
  }
  Status remember(std::string validator) {
    validator_ = std::move(validator);
    return write_file_atomic(note_, nlohmann::json{{"url", identity()}, {"validator", validator_}}.dump());
  }
  Status append(std::string_view piece) {
    if (size_ + piece.size() > what_.largest) {
      return Status(Code::Quota, "more than the " + std::to_string(what_.largest) + " bytes expected");
    }
    while (!piece.empty()) {
      const ssize_t n = ::pwrite(fd_, piece.data(), piece.size(), off_t(size_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno_status(errno, path_);
      size_ += uint64_t(n);
      piece.remove_prefix(size_t(n));
    }
    return {};
  }
  Status finish() {
    if (!what_.sha256.empty()) {
      auto sum = sha256_file(path_);
      if (!sum.ok()) return sum.status();
      if (*sum != what_.sha256) {
        discard();
        return Status(Code::Corrupt,
                      printable_url(what_.url) + ": its SHA-256 is " + *sum + ", expected " + what_.sha256)
            .with_hint("nothing was kept");
      }
    }
    if (::fsync(fd_) != 0) return errno_status(errno, path_);
    if (::rename(path_.c_str(), what_.path.c_str()) != 0) return errno_status(errno, what_.path);
    ::unlink(note_.c_str());
    return {};
  }
  void discard() {
    ::unlink(path_.c_str());
    ::unlink(note_.c_str());
  }
  uint64_t size() const { return size_; }
  const std::string& validator() const { return validator_; }
  const std::string& identity() const { return what_.identity.empty() ? what_.url : what_.identity; }

 private:
  const Download& what_;
  std::string path_, note_, validator_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// One request for what is still missing. Ok: all is there.
Status attempt(Http& http, const Download& what, Part& part) {
  Request r;
  r.url = what.url;
  r.headers = what.headers;
  r.connect_seconds = what.connect_seconds;
  r.stall_seconds = what.stall_seconds;
  r.cancelled = what.cancelled;
  if (what.signing) {
    for (auto& header : what.signing()) r.headers.push_back(std::move(header));
  }
  const uint64_t begin = part.size();
  if (begin > 0) {
    r.headers.emplace_back("Range", "bytes=" + std::to_string(begin) + "-");
    if (!part.validator().empty()) r.headers.emplace_back("If-Range", part.validator());
  }
  uint64_t offset = begin;
  if (what.progress) {
    r.progress = [&](uint64_t done, uint64_t total) {
      what.progress(offset + done, total ? offset + total : 0);
    };
  }
  r.sink = [&](std::string_view piece) { return part.append(piece); };
  // A 200 to a request for a range starts from the beginning.
  r.on_headers = [&](const Response& answer) -> Status {
    if (answer.status == 206) {
      if (parse_content_range(answer.header("content-range")).first != begin) {
        return Status(Code::Corrupt, "the server answered with another range than asked for");
      }
      return {};
    }
    offset = 0;
    if (begin > 0) {
      if (Status s = part.restart(); !s.ok()) return s;
    }
    std::string_view tag = answer.header("etag");
    if (tag.rfind("W/", 0) == 0) tag = {};  // weak: not good for ranges
    if (tag.empty()) tag = answer.header("last-modified");
    return part.remember(std::string(tag));
  };
  auto answer = http.send(r);
  if (!answer.ok()) return answer.status();
  if (answer->status == 416) {
    // All was there already, or the file is shorter now.
    if (parse_content_range(answer->header("content-range")).total == begin) return {};
    if (Status s = part.restart(); !s.ok()) return s;
    return Status(Code::Retry, printable_url(what.url) + ": has changed");
  }
  return answer->ok() ? Status() : http_status(*answer, "GET " + printable_url(what.url));
}

}  // namespace

Status download(Http& http, const Download& what) {
  if (!what.sha256.empty()) {
    auto there = sha256_file(what.path);
    if (there.ok() && *there == what.sha256) return {};
  }
  if (Status made = make_directories(fs::path(what.path).parent_path().string()); !made.ok()) return made;
  Part part(what);
  if (Status opened = part.open(); !opened.ok()) return opened;
  if (!what.sha256.empty() && part.size() == 0) {  // another may have finished it before we had the lock
    auto there = sha256_file(what.path);
    if (there.ok() && *there == what.sha256) {
      part.discard();
      return {};
    }
  }
  double delay = what.retries.first_seconds;
  for (int tries = 1;; ++tries) {
    const uint64_t before = part.size();
    Status status = attempt(http, what, part);
    if (status.ok()) return part.finish();
    if (part.size() > before)
      tries = 1, delay = what.retries.first_seconds;  // it moves: as long as that is so, go on
    const bool again = status.code() == Code::Retry || status.code() == Code::Timeout;
    if (!again || tries >= what.retries.attempts) {
      if (part.size() == 0) part.discard();
      return status;
    }
    for (double slept = 0; slept < delay; slept += 0.05) {
      if (what.cancelled && what.cancelled->load()) return Status(Code::Cancelled, "interrupted");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    delay = std::min(delay * 2, what.retries.largest_seconds);
  }
}

}  // namespace radl::transfer
