#include "common/transfer/rest_store.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>

#include "common/digest.h"
#include "common/files.h"
#include "common/http/retry.h"
#include "common/transfer/answers.h"
#include "common/transfer/side_by_side.h"

namespace radl::transfer {
namespace {

constexpr const char* kNoContainer = "Create it first, or check its name and account.";
constexpr size_t kRemovedAtOnce = 16;
constexpr uint64_t kWholeInMemory = uint64_t{8} << 20;  // a file of more comes in ranges

std::string range_header(const Range& range) {
  return "bytes=" + std::to_string(range.first) + "-" +
         (range.count > 0 ? std::to_string(range.first + range.count - 1) : "");
}

}  // namespace

Status no_container(const std::string& address) {
  return not_found(address + ": bucket or container not found").with_hint(kNoContainer);
}

bool is_missing_container(const Status& status) {
  return status.code() == Code::NotFound &&
         (status.hint() == kNoContainer || status.message().find("NoSuchBucket") != std::string::npos);
}

std::optional<Status> condition_answer(const http::Response& answer, const PutCondition& condition,
                                       const std::string& address) {
  if (!condition.if_absent && condition.if_match.empty()) return std::nullopt;
  if (answer.status == 412 || answer.status == 409) {
    if (condition.if_absent) return Status(Code::Exists, address + " already exists");
    return Status(Code::Conflict, address + " was changed by another program");
  }
  if (answer.status >= 500 && answer.status != 503)
    return Status(Code::Lost, address + ": HTTP status " + std::to_string(answer.status) +
                                  "; it is unknown whether it was written");
  return std::nullopt;
}

std::time_t http_time(std::string_view header) {
  return header.empty() ? 0 : std::max<std::time_t>(0, ::curl_getdate(std::string(header).c_str(), nullptr));
}

uint64_t content_length(const http::Response& answer) {
  return std::strtoull(std::string(answer.header("content-length")).c_str(), nullptr, 10);
}

RestStore::RestStore(http::Client& http, int attempts, std::string ca_file)
    : http_(http), attempts_(attempts), ca_file_(std::move(ca_file)) {}

std::string RestStore::with_query(const std::string& url, const http::Headers& query) {
  return query.empty() ? url : url + (url.find('?') == url.npos ? "?" : "&") + http::query_string(query);
}

Result<http::Response> RestStore::call(const Call& what, http::Request request) {
  request.method = what.method;
  request.url = what.url;
  if (const std::string secret = secret_query(); !secret.empty())
    request.url += (request.url.find('?') == request.url.npos ? "?" : "&") + secret;
  for (http::Headers given : {what.headers, usual_headers()})
    for (auto& header : given) request.headers.push_back(std::move(header));
  request.follow_redirects = false;  // what proves who asks is for this host alone
  request.ca_file = ca_file_;
  request.user_agent = "radlc (store)";
  request.idempotent = what.repeatable && !what.once;
  request.stop = what.stop;
  const uint64_t body_bytes = request.upload_file.empty() ? request.body.size() : request.upload_length;
  http::Request bare;
  bare.method = request.method;
  bare.url = request.url;
  bare.headers = request.headers;
  request.signing = [this, &bare, body_bytes, &what] { return authorization(bare, body_bytes, what.stop); };
  http::Retries retries;
  retries.attempts = attempts_;
  retries.largest_seconds = 20;
  for (int tries = 0;; ++tries) {
    // On a connection that was kept open libcurl sends a PUT again by itself when that dies under it.
    http::Client alone(http_.environment());
    auto answer = what.once ? alone.send(request) : http_.send(request, retries);
    if (!answer.ok()) {
      const Code code = answer.status().code();
      // An interrupted write that must not repeat may have been executed.
      const bool unknown = what.once && (code == Code::Retry || code == Code::Timeout);
      return unknown ? Status(Code::Lost, answer.status().message()) : answer;
    }
    const bool refused = answer->status == 401 || answer->status == 403;
    if (refused && tries < 2 && put_right(*answer)) continue;
    return answer;
  }
}

Result<Described> RestStore::look(const std::string& key, std::time_t* modified, const Stop& stop) {
  auto url = bytes_url(key, stop);
  if (!url.ok()) return url.status();
  auto answer = call({.method = "HEAD", .url = *url, .stop = stop});
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return error(*answer, key);
  if (modified != nullptr) *modified = http_time(answer->header("last-modified"));
  return described(*answer);
}

Result<Object> RestStore::head(const std::string& key, const Stop& stop) {
  std::time_t modified = 0;
  auto found = look(key, &modified, stop);
  if (!found.ok()) return found.status();
  return Object{key, found->etag, found->size, modified};
}

Result<Fetched> RestStore::get(const std::string& key, const Range& range, const Stop& stop) {
  auto url = bytes_url(key, stop);
  if (!url.ok()) return url.status();
  Call what{.url = *url, .stop = stop};
  const bool whole = range.first == 0 && range.count == 0;
  if (!whole) what.headers.emplace_back("Range", range_header(range));
  auto answer = call(what);
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return error(*answer, key);
  const Described found = described(*answer);
  if (whole) {
    if (Status sum = check_bytes(found.checksum, answer->body); !sum.ok())
      return std::move(sum).at(address(key));
  }
  Fetched got{{key, found.etag, found.size, http_time(answer->header("last-modified"))},
              {},
              http_time(answer->header("date"))};
  if (auto total = parse_content_range(answer->header("content-range")).total) got.object.size = *total;
  auto bytes = bytes_of_range(std::move(*answer), range, address(key));
  if (!bytes.ok()) return bytes.status();
  got.bytes = std::move(*bytes);
  return got;
}

class RestStore::Ranges : public RangeSource {
 public:
  Ranges(RestStore& store, const std::string& key) : store_(store), key_(key) {}
  Result<http::Response> read(const Range& range, const std::string& etag, http::Request request,
                              const Stop& stop) override {
    auto url = store_.bytes_url(key_, stop);
    if (!url.ok()) return url.status();
    Call what{.url = *url, .headers = {{"Range", range_header(range)}}, .stop = stop};
    store_.only_if(etag, what.url, what.headers);
    return store_.call(what, std::move(request));
  }
  Status error(const http::Response& answer) const override { return store_.error(answer, key_); }

 private:
  RestStore& store_;
  const std::string& key_;
};

// In one answer. What is too large for that is described instead.
Result<std::optional<Described>> RestStore::get_small(const std::string& key, const Download& what) {
  auto url = bytes_url(key, what.stop);
  if (!url.ok()) return url.status();
  std::optional<Described> large;
  http::Request request;
  request.connect_seconds = what.connect_seconds;
  request.stall_seconds = what.stall_seconds;
  request.progress = what.progress;
  request.on_headers = [&](const http::Response& answer) -> Status {
    Described found = described(answer);
    if (found.size <= kWholeInMemory || found.etag.empty()) return {};
    large = std::move(found);
    return {Code::Unsupported, "in ranges"};
  };
  auto answer = call({.url = *url, .stop = what.stop}, std::move(request));
  if (large) return large;
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return error(*answer, key);
  if (answer->body.size() > what.largest)
    return Status(Code::Quota,
                  address(key) + ": more than the " + std::to_string(what.largest) + " bytes expected");
  Status sum = check_bytes(described(*answer).checksum, answer->body);
  if (sum.ok() && !what.sha256.empty() && sha256_hex(answer->body) != what.sha256)
    sum = Status(Code::Corrupt, "its SHA-256 is " + sha256_hex(answer->body) + ", expected " + what.sha256);
  if (!sum.ok()) return std::move(sum).at(address(key));
  const std::string folder = std::filesystem::path(what.path).parent_path().string();
  if (Status made = make_directories(folder); !made.ok()) return made;
  Status written = write_file_atomic(what.path, answer->body);
  return written.ok() ? Result<std::optional<Described>>(std::nullopt) : written;
}

Status RestStore::get_file(const std::string& key, Download what) {
  if (!what.sha256.empty()) {
    auto there = sha256_file(what.path);
    if (there.ok() && *there == what.sha256) return {};
  }
  what.identity = address(key);
  for (int tries = 0;; ++tries) {
    std::optional<Described> large;
    if (has_ranges(what)) {
      auto found = look(key, nullptr, what.stop);
      if (!found.ok()) return found.status();
      if (found->size > 0) large = std::move(*found);
    } else {
      auto small = get_small(key, what);
      if (!small.ok()) return small.status();
      large = std::move(*small);
      if (!large) return {};
    }
    if (!large) return write_file_atomic(what.path, "");
    Ranges ranges(*this, key);
    Status status = look_at_parts(key, *large, what.stop);
    if (status.ok()) status = download_ranges(ranges, what, std::move(*large), attempts_);
    // The object changed during the download: retry once, from the beginning.
    if (status.code() != Code::Conflict || tries > 0) return status;
  }
}

Status RestStore::remove(const std::string& key, const Stop& stop) {
  auto url = object_url(key, stop);
  if (!url.ok()) return url.status();
  auto answer = call({.method = "DELETE", .url = *url, .stop = stop});
  if (!answer.ok()) return answer.status();
  if (answer->ok()) return {};
  Status failed = error(*answer, key);
  return failed.code() == Code::NotFound && !is_missing_container(failed) ? Status() : failed;
}

Status RestStore::remove_many(const std::vector<std::string>& keys, const Stop& stop) {
  std::mutex mutex;
  size_t failed = 0;
  Status first;
  Status stopped =
      side_by_side(keys.size(), kRemovedAtOnce, stop, [&](size_t i, const Stop& either) -> Status {
        Status gone = remove(keys[i], either);
        if (gone.ok() || gone.code() == Code::Cancelled) return gone;
        std::lock_guard lock(mutex);
        if (failed++ == 0) first = std::move(gone);
        return {};
      });
  if (!stopped.ok()) return stopped;
  if (failed > 1)
    return Status(first.code(), first.message() + " (and " + std::to_string(failed - 1) + " more)")
        .with_hint(first.hint());
  return first;
}

}  // namespace radl::transfer
