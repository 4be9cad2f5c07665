// Objects of S3 to files: small ones in one stream, large ones in ranges (ranged_download.h).
#include <cstdlib>

#include "common/digest.h"
#include "common/transfer/answers.h"
#include "common/transfer/checksum.h"
#include "common/transfer/ranged_download.h"
#include "common/transfer/s3.h"

namespace radl::transfer {
namespace {

uint64_t length_of(const http::Response& answer) {
  return std::strtoull(std::string(answer.header("content-length")).c_str(), nullptr, 10);
}

Described described(const http::Response& head, uint64_t size) {
  return {unquote_etag(head.header("etag")), size, checksum_of(head.headers), 0};
}

}  // namespace

// One object in ranges.
class S3Ranges : public RangeSource {
 public:
  S3Ranges(S3& store, const std::string& key, const Stop& stop) : store_(store), key_(key), stop_(stop) {}

  // The size of the parts whose checksums make up the object's checksum.
  Status look_at_parts(Described& object) {
    if (object.checksum.parts <= 0) return {};
    auto first = store_.call({.method = "HEAD", .key = key_, .query = {{"partNumber", "1"}}, .stop = stop_});
    if (!first.ok()) return first.status();
    const uint64_t bytes = first->ok() ? length_of(*first) : 0;
    const uint64_t count = bytes > 0 ? (object.size + bytes - 1) / bytes : 0;
    // Parts of several sizes, or a server that does not tell: nothing to compare with.
    object.part_bytes = count == uint64_t(object.checksum.parts) ? bytes : 0;
    return {};
  }
  Result<http::Response> read(const Range& range, const std::string& etag, http::Request request,
                              const Stop& stop) override {
    S3::Call what{.method = "GET", .key = key_, .stop = stop};
    what.headers = {{"Range", "bytes=" + std::to_string(range.first) + "-" +
                                  std::to_string(range.first + range.count - 1)},
                    {"If-Match", "\"" + etag + "\""}};
    return store_.call(what, std::move(request));
  }
  Status error(const http::Response& answer) const override { return s3_error(answer, store_.address(key_)); }

 private:
  S3& store_;
  const std::string& key_;
  const Stop& stop_;
};

Status S3::get_file(const std::string& key, Download what) {
  if (!what.sha256.empty()) {
    auto there = sha256_file(what.path);
    if (there.ok() && *there == what.sha256) return {};
  }
  what.identity = address(key);
  const Call whole{
      .method = "GET", .key = key, .headers = {{"x-amz-checksum-mode", "ENABLED"}}, .stop = what.stop};
  for (int tries = 0;; ++tries) {
    std::optional<Described> large;
    Status status;
    if (has_ranges(what)) {
      auto head = call({.method = "HEAD", .key = key, .headers = whole.headers, .stop = what.stop});
      if (!head.ok()) return head.status();
      if (!head->ok()) return s3_error(*head, address(key));
      large = described(*head, length_of(*head));
    }
    if (!large || large->size == 0) {
      large.reset();
      const http::Request request = prepared(whole, {}, nullptr);
      Download one = what;
      StoredChecksum checksum;
      one.url = request.url;
      one.headers = request.headers;
      one.signing = request.signing;
      one.ca_file = request.ca_file;
      one.user_agent = request.user_agent;
      one.retries.attempts = options_.attempts;
      one.on_answer = [&](const http::Response& head) -> Status {
        const uint64_t bytes = length_of(head);
        if (head.status == 200) checksum = checksum_of(head.headers);
        if (head.status != 200 || bytes <= kInRanges || head.header("etag").empty()) return {};
        large = described(head, bytes);
        return {Code::Unsupported, "in ranges"};
      };
      one.check = [&](const std::string& path) { return check_file(checksum, path); };
      status = download(http_, one);
    }
    if (large) {
      S3Ranges ranges(*this, key, what.stop);
      status = ranges.look_at_parts(*large);
      if (status.ok()) status = download_ranges(ranges, what, *large, options_.attempts);
    }
    if (status.ok() || tries > 0) return status;
    const Code code = status.code();
    if (code == Code::Conflict && large) continue;  // changed on the way: once more, from its beginning
    if (code != Code::Auth && code != Code::Invalid && code != Code::NotFound) return status;
    // Another region, expired keys or a wrong clock: a request whose answer names the cause corrects it.
    auto why = get(key, {0, 1}, what.stop);
    if (!why.ok() && why.status().message().find("InvalidRange") == std::string::npos) return why.status();
  }
}

}  // namespace radl::transfer
