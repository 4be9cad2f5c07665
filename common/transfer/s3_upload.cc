// Files to S3: small ones whole, large ones in parts, several at a time, and on with what an earlier call
// left.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/answers.h"
#include "common/transfer/checksum.h"
#include "common/transfer/s3.h"
#include "common/transfer/side_by_side.h"
#include "common/transfer/upload_note.h"

namespace radl::transfer {
namespace {

// S3's limits: parts of 5 MiB to 5 GiB (but for the last), 10,000 of them.
constexpr uint64_t kMiB = uint64_t{1} << 20, kSmallestPart = 5 * kMiB, kUsualPart = 16 * kMiB,
                   kMostParts = 10000;
constexpr double kStallSeconds = 60;  // a store writes what it was sent before it answers

}  // namespace

uint64_t upload_part_bytes(uint64_t wanted, uint64_t size) {
  const uint64_t at_least = (size + kMostParts - 1) / kMostParts;
  const uint64_t rounded = (at_least + kMiB - 1) / kMiB * kMiB;
  return std::max({wanted > 0 ? wanted : kUsualPart, kSmallestPart, rounded});
}

class S3Upload {
 public:
  S3Upload(S3& store, const std::string& key, const std::string& path, const struct stat& info,
           const Upload& how)
      : store_(store),
        key_(key),
        path_(path),
        how_(how),
        size_(uint64_t(info.st_size)),
        part_bytes_(upload_part_bytes(how.part_bytes, size_)),
        parts_(size_t((size_ + part_bytes_ - 1) / part_bytes_)),
        note_(path, info, store.address(key), store.options_.endpoint, part_bytes_) {}

  Result<Object> run() {
    if (Status s = note_.open(); !s.ok()) return s;
    if (!note_.stale().empty()) abort(note_.stale());
    Status status = resume();
    if (status.ok() && note_.upload().empty()) status = begin();
    if (status.ok()) status = send_parts();
    auto done = status.ok() ? complete() : Result<Object>(status);
    const Code code = done.status().code();
    const bool later = code == Code::Retry || code == Code::Timeout || code == Code::Cancelled;
    if (done.ok() || !later) note_.remove();
    if (!done.ok() && !later && !note_.upload().empty()) abort(note_.upload());
    return done;
  }

 private:
  struct Part {
    std::string etag;
    uint32_t crc = 0;
    bool done = false;
  };

  uint64_t begin_of(size_t i) const { return i * part_bytes_; }
  uint64_t bytes_of(size_t i) const { return std::min(part_bytes_, size_ - begin_of(i)); }

  // What the server has of this file already. Each part is compared with the file, not only with its time.
  Status resume() {
    std::set<std::string> pages;
    for (std::string marker; !note_.upload().empty();) {
      S3::Call what{.method = "GET", .key = key_, .query = {{"uploadId", note_.upload()}}, .stop = how_.stop};
      if (!marker.empty()) what.query.emplace_back("part-number-marker", marker);
      auto answer = store_.call(what);
      if (!answer.ok()) return answer.status();
      if (answer->status == 404) {  // it has ended: finished or aborted
        note_.begun("");
        return {};
      }
      if (!answer->ok()) return s3_error(*answer, store_.address(key_));
      auto page = parse_s3_parts(answer->body);
      if (!page.ok()) return Status(page.status()).at(store_.address(key_));
      for (const auto& part : page->parts) {
        if (Status s = keep(part); !s.ok()) return s;
      }
      if (page->next.empty() || !pages.insert(page->next).second) return {};
      marker = page->next;
    }
    return {};
  }

  Status keep(const S3PartPage::Part& there) {
    const size_t i = size_t(there.number) - 1;
    if (i >= parts_.size() || there.size != bytes_of(i) || there.etag.empty()) return {};
    auto crc = crc32c_file(path_, begin_of(i), bytes_of(i));
    if (!crc.ok()) return crc.status();
    if (!there.crc32c.empty() && there.crc32c != checksum_text(*crc)) return {};
    parts_[i] = {there.etag, *crc, true};
    checksums_ = !there.crc32c.empty();
    sent_ += bytes_of(i);
    return {};
  }

  Status begin() {
    S3::Call what{.method = "POST", .key = key_, .query = {{"uploads", ""}}, .stop = how_.stop};
    what.headers.emplace_back("x-amz-checksum-algorithm", "CRC32C");
    http::Request request;
    request.idempotent = true;  // a second one without parts takes no space
    auto begun = store_.call(what, request);
    if (!begun.ok()) return begun.status();
    if (!begun->ok()) return s3_error(*begun, store_.address(key_));
    const std::string upload = s3_field(begun->body, "UploadId");
    if (upload.empty())
      return {Code::Corrupt, store_.address(key_) + ": the server started an upload but returned no ID"};
    note_.begun(upload);
    return {};
  }

  Status send_parts() {
    const size_t width = static_cast<size_t>(std::max(1, how_.parallel));
    return side_by_side(parts_.size(), width, how_.stop, [&](size_t i, const Stop& stop) -> Status {
      return parts_[i].done ? Status() : send_part(i, stop);
    });
  }

  Status send_part(size_t i, const Stop& stop) {
    auto crc = crc32c_file(path_, begin_of(i), bytes_of(i));
    if (!crc.ok()) return crc.status();
    S3::Call what{.method = "PUT",
                  .key = key_,
                  .query = {{"partNumber", std::to_string(i + 1)}, {"uploadId", note_.upload()}},
                  .headers = checksum_headers(*crc),
                  .stop = stop};
    http::Request request;
    request.upload_file = path_;
    request.upload_offset = begin_of(i);
    request.upload_length = bytes_of(i);
    request.stall_seconds = kStallSeconds;
    uint64_t counted = 0;
    if (how_.progress)
      request.progress = [&](uint64_t done, uint64_t) {
        count(int64_t(done) - int64_t(counted)), counted = done;
      };
    auto answer = store_.call(what, request);
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return s3_error(*answer, store_.address(key_) + " part " + std::to_string(i + 1));
    if (answer->header("etag").empty()) return not_a_store(store_.address(key_));
    count(int64_t(bytes_of(i)) - int64_t(counted));
    std::lock_guard lock(mutex_);
    parts_[i] = {unquote_etag(answer->header("etag")), *crc, true};
    if (!answer->header(kChecksumHeader).empty()) checksums_ = true;
    return {};
  }

  void count(int64_t bytes) {
    std::lock_guard lock(mutex_);
    sent_ += uint64_t(bytes);
    if (how_.progress) how_.progress(sent_, size_);
  }

  Result<Object> complete() {
    std::string list = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (size_t i = 0; i < parts_.size(); ++i) {
      list += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>\"" + parts_[i].etag +
              "\"</ETag>";
      if (checksums_) list += "<ChecksumCRC32C>" + checksum_text(parts_[i].crc) + "</ChecksumCRC32C>";
      list += "</Part>";
    }
    http::Request request;
    request.body = list + "</CompleteMultipartUpload>";
    request.idempotent = true;
    request.stall_seconds = 300;  // the store puts large ones together before it answers
    auto answer = store_.call_late(
        {.method = "POST", .key = key_, .query = {{"uploadId", note_.upload()}}, .stop = how_.stop}, request);
    if (!answer.ok()) return answer.status();
    if (answer->ok() && !is_s3_error(answer->body)) {
      const std::string etag = unquote_etag(s3_field(answer->body, "ETag"));
      return etag.empty() ? Result<Object>(not_a_store(store_.address(key_))) : finished(etag);
    }
    // The answer to the first may have been lost, and this one be that to its repetition.
    if (s3_field(answer->body, "Code") == "NoSuchUpload") {
      auto there = store_.head(key_, how_.stop);
      if (there.ok() && there->size == size_ && there->etag.ends_with("-" + std::to_string(parts_.size())))
        return finished(there->etag);
    }
    return s3_error(*answer, store_.address(key_));
  }

  Result<Object> finished(const std::string& etag) {
    if (Status same = still_as_long(path_, size_); !same.ok()) return same;
    return Object{key_, etag, size_, 0};
  }

  void abort(const std::string& upload) {
    (void)store_.call({.method = "DELETE",
                       .key = key_,
                       .query = {{"uploadId", upload}},
                       .stop = Stop().within(std::chrono::seconds(10))});
  }

  S3& store_;
  const std::string key_, path_;
  const Upload& how_;
  const uint64_t size_, part_bytes_;
  std::mutex mutex_;
  std::vector<Part> parts_;
  UploadNote note_;
  bool checksums_ = false;  // the store keeps those of parts
  uint64_t sent_ = 0;
};

Result<Object> S3::put_whole(const std::string& key, const std::string& path, uint64_t size,
                             const Upload& how) {
  auto crc = crc32c_file(path, 0, size);
  if (!crc.ok()) return crc.status();
  http::Request request;
  request.upload_file = path;
  request.upload_length = size;
  request.stall_seconds = kStallSeconds;
  request.progress = how.progress;
  auto answer =
      call({.method = "PUT", .key = key, .headers = checksum_headers(*crc), .stop = how.stop}, request);
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return s3_error(*answer, address(key));
  Object made{key, unquote_etag(answer->header("etag")), size, 0};
  return made.etag.empty() ? Result<Object>(not_a_store(address(key))) : made;
}

Result<Object> S3::put_file(const std::string& key, const std::string& path, const Upload& how) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, path);
  if (!S_ISREG(info.st_mode)) return invalid(path + " is not a regular file");
  const uint64_t size = uint64_t(info.st_size);
  if (size <= upload_part_bytes(how.part_bytes, size)) return put_whole(key, path, size, how);
  return S3Upload(*this, key, path, info, how).run();
}

}  // namespace radl::transfer
