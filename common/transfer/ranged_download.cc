#include "common/transfer/ranged_download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/clock.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/http/retry.h"
#include "common/transfer/answers.h"
#include "common/transfer/part_file.h"
#include "common/transfer/side_by_side.h"

namespace radl::transfer {
namespace {

constexpr uint64_t kRange = uint64_t{16} << 20;
constexpr size_t kRangesAtOnce = 8;
// libcurl delivers 16 KiB at a time; larger writes need half of the kernel's time.
constexpr size_t kWritten = size_t{256} << 10;

class Ranges {
 public:
  Ranges(RangeSource& source, const Download& what, Described object, int attempts)
      : source_(source),
        what_(what),
        attempts_(attempts),
        object_(std::move(object)),
        part_(what.part_path()),
        note_(part_ + ".json") {}
  ~Ranges() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status run() {
    if (object_.size > what_.largest)
      return {Code::Quota, "more than the " + std::to_string(what_.largest) + " bytes expected"};
    divide();
    if (Status s = open(); !s.ok()) return s;
    Status status = fetch();
    if (!status.ok()) {
      (void)remember();
      return status;
    }
    return finish();
  }

 private:
  struct Piece {
    Range range;
    size_t part = 0;   // of the upload, where the checksum is one of parts
    uint64_t crc = 0;  // of the kind that the store keeps
    bool done = false;
  };

  // Ranges that no part's border goes through, so that the parts' checksums can be put together.
  void divide() {
    if (object_.checksum.parts > 0 && object_.part_bytes == 0) object_.checksum = {};
    const uint64_t part_bytes = object_.checksum.parts > 0 ? object_.part_bytes : object_.size;
    for (uint64_t part = 0; part * part_bytes < object_.size; ++part) {
      const uint64_t end = std::min(object_.size, (part + 1) * part_bytes);
      for (uint64_t at = part * part_bytes; at < end; at += kRange)
        pieces_.push_back({{at, std::min(kRange, end - at)}, size_t(part), 0, false});
    }
  }

  nlohmann::json identity() const {
    return {{"from", what_.identity},
            {"etag", object_.etag},
            {"size", object_.size},
            {"pieces", pieces_.size()},
            {"checksum", object_.checksum.value},
            {"sha256", what_.sha256}};
  }

  Status open() {
    if (Status made = make_directories(std::filesystem::path(what_.path).parent_path().string()); !made.ok())
      return made;
    auto opened = open_part(part_);
    if (!opened.ok()) return opened.status();
    fd_ = *opened;
    auto text = read_file(note_, size_t{16} << 20);
    const auto json = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    struct stat info {};
    const bool whole = ::fstat(fd_, &info) == 0 && uint64_t(info.st_size) == object_.size;
    if (whole && json.is_object() && json.value("file", nlohmann::json()) == identity() &&
        json.contains("ranges") && json["ranges"].is_array()) {
      for (const auto& done : json["ranges"]) {
        if (!done.is_array() || done.size() != 2 || !done[0].is_number_unsigned() ||
            !done[1].is_number_unsigned() || done[0].get<size_t>() >= pieces_.size())
          continue;
        Piece& piece = pieces_[done[0].get<size_t>()];
        piece.crc = done[1].get<uint64_t>();
        piece.done = true;
        received_ += piece.range.count;
      }
      return {};
    }
    if (::ftruncate(fd_, 0) != 0) return errno_status(errno, part_);
    // Now, and not in the middle: there is room for all of it.
    if (::fallocate(fd_, 0, 0, off_t(object_.size)) != 0 && errno != EOPNOTSUPP)
      return errno_status(errno, part_);
    return ::ftruncate(fd_, off_t(object_.size)) == 0 ? remember() : errno_status(errno, part_);
  }

  // What the note calls done is on the disk. Called by one thread at a time.
  Status remember() {
    nlohmann::json done = nlohmann::json::array();
    {
      std::lock_guard lock(mutex_);
      for (size_t i = 0; i < pieces_.size(); ++i) {
        if (pieces_[i].done) done.push_back({i, pieces_[i].crc});
      }
    }
    if (::fdatasync(fd_) != 0) return errno_status(errno, part_);
    return write_file_atomic(note_, nlohmann::json{{"file", identity()}, {"ranges", done}}.dump());
  }

  Status fetch() {
    return side_by_side(pieces_.size(), kRangesAtOnce, what_.stop, [&](size_t i, const Stop& stop) -> Status {
      if (pieces_[i].done) return {};
      Status s = fetch_piece(i, stop);
      return s.ok() ? remember_now_and_then() : s;
    });
  }

  // What of a piece has come stays when its connection breaks.
  Status fetch_piece(size_t i, const Stop& stop) {
    const Range range = pieces_[i].range;
    uint64_t have = 0, crc = 0;
    http::Backoff backoff({attempts_, 0.25, 20}, stop);
    for (;;) {
      const uint64_t before = have;
      Status s = fetch_rest(range, have, crc, stop);
      if (s.ok()) break;
      if (have > before) backoff.reset();
      const bool passing = s.code() == Code::Retry || s.code() == Code::Timeout;
      if (!passing || !backoff.again()) return s;
      if (Status waited = backoff.wait(); !waited.ok()) return waited.code() == Code::Timeout ? s : waited;
    }
    // Starts writing to disk while the rest arrives, so that the end waits only for the last part.
    (void)::sync_file_range(fd_, off_t(range.first), off_t(range.count), SYNC_FILE_RANGE_WRITE);
    std::lock_guard lock(mutex_);
    pieces_[i].crc = crc;
    pieces_[i].done = true;
    return {};
  }

  Status fetch_rest(const Range& range, uint64_t& have, uint64_t& crc, const Stop& stop) {
    const uint64_t first = range.first + have;
    http::Request request;
    std::string gathered;
    gathered.reserve(kWritten + (size_t{16} << 10));
    auto keep_gathered = [&]() -> Status {
      Status kept = keep(range, gathered, have, crc);
      gathered.clear();
      return kept;
    };
    request.on_headers = [&](const http::Response& answer) -> Status {
      if (answer.status != 206 || parse_content_range(answer.header("content-range")).first != first)
        return {Code::Corrupt, "the server returned a different range than requested"};
      return {};
    };
    request.sink = [&](std::string_view piece) -> Status {
      if (have + gathered.size() + piece.size() > range.count)
        return {Code::Corrupt, "the server returned more bytes than requested"};
      gathered.append(piece);
      return gathered.size() < kWritten ? Status() : keep_gathered();
    };
    auto answer = source_.read({first, range.count - have}, object_.etag, std::move(request), stop);
    if (Status kept = keep_gathered(); !kept.ok()) return kept;  // also of a connection that broke
    if (!answer.ok()) return answer.status();
    if (answer->status == 412) return {Code::Conflict, what_.identity + " changed while it was read"};
    if (!answer->ok()) return source_.error(*answer);
    return have == range.count ? Status()
                               : Status(Code::Retry, what_.identity + ": the connection ended early");
  }

  // The next bytes of a range, in the file and in its checksum.
  Status keep(const Range& range, std::string_view bytes, uint64_t& have, uint64_t& crc) {
    if (bytes.empty()) return {};
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          ::pwrite(fd_, bytes.data() + done, bytes.size() - done, off_t(range.first + have + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno_status(errno, part_);
      done += size_t(n);
    }
    crc = crc_of(object_.checksum.crc, bytes, crc);
    have += bytes.size();
    std::lock_guard lock(mutex_);
    received_ += bytes.size();
    if (what_.progress) what_.progress(received_, object_.size);
    return {};
  }

  Status remember_now_and_then() {
    {
      std::lock_guard lock(mutex_);
      if (remembering_ || seconds_since(remembered_) < 2) return {};
      remembering_ = true;
    }
    Status s = remember();
    std::lock_guard lock(mutex_);
    remembering_ = false;
    remembered_ = SteadyClock::now();
    return s;
  }

  // The object's checksum from those of the pieces.
  Status check() const {
    if (object_.checksum.kind == StoredChecksum::Kind::Crc) {
      const Crc kind = object_.checksum.crc;
      std::vector<uint64_t> parts;
      for (const Piece& piece : pieces_) {
        if (piece.part >= parts.size())
          parts.push_back(piece.crc);
        else
          parts.back() = crc_joined(kind, parts.back(), piece.crc, piece.range.count);
      }
      const std::string whole =
          crc_text(kind, object_.checksum.parts > 0 ? crc_of_parts(kind, parts) : parts.at(0));
      if (whole != object_.checksum.value)
        return {Code::Corrupt, "its checksum is " + whole + ", the store's is " + object_.checksum.value};
    } else if (Status s = check_file(object_.checksum, part_, object_.part_bytes); !s.ok()) {
      return s;
    }
    if (what_.sha256.empty()) return {};
    auto sum = sha256_file(part_);
    if (!sum.ok()) return sum.status();
    return *sum == what_.sha256
               ? Status()
               : Status(Code::Corrupt, "its SHA-256 is " + *sum + ", expected " + what_.sha256);
  }

  Status finish() {
    if (Status s = check(); !s.ok()) {
      ::unlink(part_.c_str());
      ::unlink(note_.c_str());
      return std::move(s).at(what_.identity);
    }
    if (::fsync(fd_) != 0) return errno_status(errno, part_);
    if (::rename(part_.c_str(), what_.path.c_str()) != 0) return errno_status(errno, what_.path);
    ::unlink(note_.c_str());
    return {};
  }

  RangeSource& source_;
  const Download& what_;
  const int attempts_;
  Described object_;
  const std::string part_, note_;
  int fd_ = -1;
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  uint64_t received_ = 0;
  bool remembering_ = false;
  SteadyClock::time_point remembered_ = SteadyClock::now();
};

}  // namespace

Status download_ranges(RangeSource& source, const Download& what, Described object, int attempts) {
  return Ranges(source, what, std::move(object), attempts).run();
}

bool has_ranges(const Download& what) {
  auto text = read_file(what.part_path() + ".json", size_t{16} << 20);
  const auto json = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  return json.is_object() && json.contains("ranges");
}

}  // namespace radl::transfer
