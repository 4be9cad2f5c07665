#include "common/transfer/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/digest.h"
#include "common/files.h"
#include "common/http/retry.h"
#include "common/transfer/answers.h"
#include "common/transfer/part_file.h"

namespace radl::transfer {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSmall = uint64_t{1} << 20;

// The file that the bytes go into until they are all there.
class Part {
 public:
  explicit Part(const Download& what) : what_(what), path_(what.part_path()), note_(path_ + ".json") {}
  ~Part() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status open() {
    auto opened = open_part(path_);
    if (!opened.ok()) return opened.status();
    fd_ = *opened;
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return errno_status(errno, path_);
    auto note = read_file(note_, 1 << 16);
    if (note.ok()) {
      auto json = nlohmann::json::parse(*note, nullptr, false);
      const bool ours =
          json.is_object() && json.value("url", "") == identity() && json.value("sha256", "") == what_.sha256;
      if (ours) {
        validator_ = json.value("validator", "");
        // Without a validator, only the checksum can show that the rest belongs to the beginning.
        if (!validator_.empty() || !what_.sha256.empty()) {
          size_ = uint64_t(info.st_size);
          return {};
        }
      }
    }
    return restart();
  }
  Status restart() {
    size_ = 0;
    return ::ftruncate(fd_, 0) == 0 ? Status() : errno_status(errno, path_);
  }
  // A note for the next process, unless the file is fetched again whenever it is read.
  Status remember(std::string validator, uint64_t bytes) {
    validator_ = std::move(validator);
    if (bytes > 0 && bytes <= kSmall) {
      ::unlink(note_.c_str());
      return {};
    }
    return write_file_atomic(
        note_,
        nlohmann::json{{"url", identity()}, {"sha256", what_.sha256}, {"validator", validator_}}.dump());
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
        return Status(Code::Corrupt, http::printable_url(what_.url) + ": its SHA-256 is " + *sum +
                                         ", expected " + what_.sha256)
            .with_hint("The download was discarded.");
      }
    }
    if (what_.check) {
      if (Status s = what_.check(path_); !s.ok()) {
        discard();
        return std::move(s).at(identity());
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

// Makes one request for the missing part. Ok: the file is complete. `after`: seconds that an overloaded
// server asks to wait.
Status attempt(http::Client& http, const Download& what, Part& part, std::optional<double>& after) {
  http::Request r;
  r.url = what.url;
  r.headers = what.headers;
  r.connect_seconds = what.connect_seconds;
  r.stall_seconds = what.stall_seconds;
  r.stop = what.stop;
  r.signing = what.signing;
  r.ca_file = what.ca_file;
  r.user_agent = what.user_agent;
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
  r.on_headers = [&](const http::Response& answer) -> Status {
    if (what.on_answer) {
      if (Status s = what.on_answer(answer); !s.ok()) return s;
    }
    if (answer.status == 206) {
      if (parse_content_range(answer.header("content-range")).first != begin) {
        return Status(Code::Corrupt, "the server returned a different range than requested");
      }
      return {};
    }
    // Statuses such as "No content" do not carry the file.
    if (answer.status != 200 && answer.status != 203)
      return {Code::Corrupt, "HTTP status " + std::to_string(answer.status) + " does not contain a file"};
    offset = 0;
    if (begin > 0) {
      if (Status s = part.restart(); !s.ok()) return s;
    }
    std::string_view tag = answer.header("etag");
    if (tag.rfind("W/", 0) == 0) tag = {};  // weak: not good for ranges
    if (tag.empty()) tag = answer.header("last-modified");
    return part.remember(std::string(tag),
                         std::strtoull(std::string(answer.header("content-length")).c_str(), nullptr, 10));
  };
  auto answer = http.send(r);
  if (!answer.ok()) return answer.status();
  if (answer->status == 416) {
    // The part was complete already, or the file is shorter now.
    if (parse_content_range(answer->header("content-range")).total == begin) return {};
    if (Status s = part.restart(); !s.ok()) return s;
    return Status(Code::Retry, http::printable_url(what.url) + " changed during the download");
  }
  after = http::parse_retry_after(answer->header("retry-after"), std::time(nullptr));
  return answer->ok() ? Status() : http::status_of(*answer, "GET " + http::printable_url(what.url));
}

}  // namespace

Status download(http::Client& http, const Download& what) {
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
  http::Backoff backoff(what.retries, what.stop);
  for (;;) {
    const uint64_t before = part.size();
    std::optional<double> after;
    Status status = attempt(http, what, part, after);
    if (status.ok()) return part.finish();
    if (part.size() > before) backoff.reset();  // it moves: as long as that is so, go on
    const bool passing = status.code() == Code::Retry || status.code() == Code::Timeout;
    const bool away = after && *after > what.retries.longest_retry_after;  // it will not be back in time
    if (!passing || away || !backoff.again()) {
      if (part.size() == 0) part.discard();
      return status;
    }
    if (Status waited = backoff.wait(after); !waited.ok())
      return waited.code() == Code::Timeout ? status : waited;
  }
}

}  // namespace radl::transfer
