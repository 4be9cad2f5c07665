// Files to Swift: small ones whole, large ones in segments, several at a time, and on with what an earlier
// call left.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/side_by_side.h"
#include "common/transfer/swift.h"
#include "common/transfer/upload_note.h"

namespace radl::transfer {
namespace {

// By default, a cluster allows 1,000 segments of up to 5 GiB.
constexpr uint64_t kUsualSegment = uint64_t{64} << 20, kMostSegments = 1000,
                   kSmallSegment = uint64_t{1} << 20;
constexpr double kSegmentStall = 60;
constexpr const char* kMark = "/radl-";  // KEY/radl-UPLOAD/NUMBER

uint64_t segment_bytes(uint64_t wanted, uint64_t size) {
  const uint64_t at_least = (size + kMostSegments - 1) / kMostSegments;
  const uint64_t rounded = (at_least + kSmallSegment - 1) / kSmallSegment * kSmallSegment;
  return std::max({wanted > 0 ? wanted : kUsualSegment, kSmallSegment, rounded});
}

std::string hex_of_base64(const std::string& text) { return to_hex(base64_decode(text).value()); }

}  // namespace

class SwiftUpload {
 public:
  SwiftUpload(Swift& store, const std::string& key, const std::string& path, const struct stat& info,
              const Upload& how, const std::string& account)
      : store_(store),
        key_(key),
        path_(path),
        how_(how),
        size_(uint64_t(info.st_size)),
        part_(segment_bytes(how.part_bytes, size_)),
        segments_(size_t((size_ + part_ - 1) / part_)),
        note_(path, info, store.address(key), account, part_) {}

  Result<Object> run() {
    if (Status s = note_.open(); !s.ok()) return s;
    if (!note_.stale().empty()) take_back(note_.stale());
    Status status = store_.make_segment_container(how_.stop);
    if (status.ok()) status = note_.upload().empty() ? begin() : resume();
    if (status.ok()) status = send_all();
    auto done = status.ok() ? complete() : Result<Object>(status);
    const Code code = done.status().code();
    const bool later = code == Code::Retry || code == Code::Timeout || code == Code::Cancelled;
    if (done.ok() || !later) note_.remove();
    if (!done.ok() && !later && !note_.upload().empty()) take_back(note_.upload());
    return done;
  }

 private:
  std::string folder(const std::string& upload) const { return key_ + kMark + upload + "/"; }
  uint64_t bytes_of(size_t i) const { return std::min(part_, size_ - i * part_); }

  Status begin() {
    note_.begun(to_hex(random_bytes(8)));
    name_segments();
    return {};
  }
  void name_segments() {
    for (size_t i = 0; i < segments_.size(); ++i)
      segments_[i] = {store_.segments(), folder(note_.upload()) + fmt::format("{:08}", i + 1), "",
                      bytes_of(i), false};
  }

  // Segments that already exist, compared with the file.
  Status resume() {
    name_segments();
    auto there = store_.list_in(store_.segments(), folder(note_.upload()), how_.stop);
    if (!there.ok()) return there.status();
    std::map<std::string, const Object*> by_name;
    for (const Object& one : *there) by_name[one.key] = &one;
    for (size_t i = 0; i < segments_.size(); ++i) {
      const auto found = by_name.find(segments_[i].name);
      if (found == by_name.end() || found->second->size != bytes_of(i)) continue;
      auto md5 = md5_of_file(path_, i * part_, bytes_of(i));
      if (!md5.ok()) return md5.status();
      if (hex_of_base64(*md5) != found->second->etag) continue;
      segments_[i].md5 = found->second->etag;
      sent_ += bytes_of(i);
    }
    return {};
  }

  Status send_all() {
    return side_by_side(
        segments_.size(), size_t(std::max(1, how_.parallel)), how_.stop,
        [&](size_t i, const Stop& stop) { return segments_[i].md5.empty() ? send(i, stop) : Status(); });
  }

  Status send(size_t i, const Stop& stop) {
    auto md5 = md5_of_file(path_, i * part_, bytes_of(i));
    if (!md5.ok()) return md5.status();
    auto where = store_.url(store_.segments(), segments_[i].name, stop);
    if (!where.ok()) return where.status();
    const std::string hex = hex_of_base64(*md5);
    http::Request request;
    request.upload_file = path_;
    request.upload_offset = i * part_;
    request.upload_length = bytes_of(i);
    request.stall_seconds = kSegmentStall;
    auto answer = store_.call({.method = "PUT",
                               .url = *where,
                               .headers = {{"ETag", hex}, {"Content-Type", "application/octet-stream"}},
                               .stop = stop},
                              std::move(request));
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return store_.error(*answer, key_).at("segment " + std::to_string(i + 1));
    std::lock_guard lock(mutex_);
    segments_[i].md5 = hex;
    sent_ += bytes_of(i);
    if (how_.progress) how_.progress(sent_, size_);
    return {};
  }

  Result<Object> complete() {
    auto before = store_.segments_of(key_, how_.stop);
    if (!before.ok()) return before.status();
    if (Status same = still_as_long(path_, size_); !same.ok()) return same;
    auto done = store_.put_segments(key_, segments_, how_.stop);
    if (!done.ok()) return done;
    // Those of what the object was; a second turn of the same manifest has the same ones.
    std::erase_if(*before, [&](const Swift::Segment& old) {
      return std::any_of(segments_.begin(), segments_.end(),
                         [&](const Swift::Segment& one) { return one.name == old.name; });
    });
    (void)store_.remove_segments(*before, how_.stop);
    return done;
  }

  void take_back(const std::string& upload) {
    const Stop soon = Stop().within(std::chrono::seconds(10));
    auto there = store_.list_in(store_.segments(), folder(upload), soon);
    if (!there.ok()) return;
    std::vector<Swift::Segment> gone;
    for (const Object& one : *there) gone.push_back({store_.segments(), one.key, "", one.size, false});
    (void)store_.remove_segments(gone, soon);
  }

  Swift& store_;
  const std::string key_, path_;
  const Upload& how_;
  const uint64_t size_, part_;
  std::mutex mutex_;
  std::vector<Swift::Segment> segments_;
  UploadNote note_;
  uint64_t sent_ = 0;
};

Result<Object> Swift::put_file(const std::string& key, const std::string& path, const Upload& how) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, path);
  if (!S_ISREG(info.st_mode)) return invalid(path + " is not a regular file");
  const uint64_t size = uint64_t(info.st_size);
  if (size > segment_bytes(how.part_bytes, size)) {
    auto account = options_.access->account(how.stop);
    if (!account.ok()) return account.status();
    return SwiftUpload(*this, key, path, info, how, account->url).run();
  }
  auto before = segments_of(key, how.stop);
  if (!before.ok()) return before.status();
  auto done = put_whole(key, path, size, how);
  if (done.ok()) (void)remove_segments(*before, how.stop);
  return done;
}

Result<Object> Swift::put_whole(const std::string& key, const std::string& path, uint64_t size,
                                const Upload& how) {
  auto md5 = md5_of_file(path, 0, size);
  if (!md5.ok()) return md5.status();
  auto where = object_url(key, how.stop);
  if (!where.ok()) return where.status();
  const std::string hex = hex_of_base64(*md5);
  http::Request request;
  request.upload_file = path;
  request.upload_length = size;
  request.stall_seconds = kSegmentStall;
  request.progress = how.progress;
  auto answer = call({.method = "PUT",
                      .url = *where,
                      .headers = {{"ETag", hex}, {"Content-Type", "application/octet-stream"}},
                      .stop = how.stop},
                     std::move(request));
  if (!answer.ok()) return answer.status();
  if (answer->status == 404) return no_container(address(""));
  if (!answer->ok()) return error(*answer, key);
  return Object{key, hex, size, http_time(answer->header("last-modified"))};
}

// Segments to which no large object refers.
Result<int> Swift::abort_uploads(const std::string& prefix, std::time_t begun_before, const Stop& stop) {
  auto there = list_in(segments(), prefix, stop);
  if (!there.ok()) return is_missing_container(there.status()) ? Result<int>(0) : there.status();
  std::map<std::string, std::vector<Segment>> uploads;  // by "KEY/radl-UPLOAD"
  std::map<std::string, std::time_t> newest;
  for (const Object& one : *there) {
    const size_t slash = one.key.rfind('/');
    const std::string folder = one.key.substr(0, slash);
    if (slash == one.key.npos || folder.rfind(kMark) == folder.npos) continue;
    uploads[folder].push_back({segments(), one.key, one.etag, one.size, false});
    newest[folder] = std::max(newest[folder], one.modified);
  }
  int aborted = 0;
  for (const auto& [folder, all] : uploads) {
    if (newest[folder] >= begun_before) continue;
    auto used = segments_of(folder.substr(0, folder.rfind(kMark)), stop);
    if (!used.ok()) return used.status();
    const std::string below = folder + "/";
    if (std::any_of(used->begin(), used->end(),
                    [&](const Segment& one) { return one.name.starts_with(below); }))
      continue;
    if (Status gone = remove_segments(all, stop); !gone.ok()) return gone;
    ++aborted;
  }
  return aborted;
}

}  // namespace radl::transfer
