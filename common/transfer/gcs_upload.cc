// Uploads files to Google Cloud Storage: small ones whole, large ones in a session that the next call
// resumes. Source: Cloud Storage documentation, "Resumable uploads": chunks but the last are multiples of 256
// KiB; `Content-Range: bytes */SIZE` queries the received size (Range of a 308).
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "common/files.h"
#include "common/http/retry.h"
#include "common/json_values.h"
#include "common/transfer/gcs.h"
#include "common/transfer/upload_note.h"

namespace radl::transfer {
namespace {

constexpr uint64_t kStep = uint64_t{256} << 10, kWhole = uint64_t{8} << 20, kChunk = uint64_t{32} << 20;
constexpr double kStall = 60;  // a store writes what it was sent before it answers

uint64_t chunk_bytes(uint64_t wanted) {
  return wanted == 0 ? kChunk : std::max(kStep, wanted / kStep * kStep);
}

// "bytes=0-524287": so many have come. Nothing: none.
uint64_t received(const http::Response& answer) {
  const std::string range(answer.header("range"));
  const size_t dash = range.rfind('-');
  return dash == range.npos ? 0 : std::strtoull(range.c_str() + dash + 1, nullptr, 10) + 1;
}

}  // namespace

class GcsUpload {
 public:
  GcsUpload(Gcs& store, const std::string& key, const std::string& path, const struct stat& info,
            const Upload& how)
      : store_(store),
        key_(key),
        path_(path),
        how_(how),
        size_(uint64_t(info.st_size)),
        note_(path, info, store.address(key), store.options_.endpoint, 0) {}

  Result<Object> run() {
    if (Status s = note_.open(); !s.ok()) return s;
    auto crc = crc32c_file(path_, 0, size_);
    if (!crc.ok()) return crc.status();
    crc_ = checksum_text(*crc);
    if (!note_.stale().empty()) give_up(note_.stale());
    auto done = send();
    const Code code = done.status().code();
    const bool later = code == Code::Retry || code == Code::Timeout || code == Code::Cancelled;
    if (done.ok() || !later) note_.remove();
    if (!done.ok() && !later && !note_.upload().empty()) give_up(note_.upload());
    return done;
  }

 private:
  Result<Object> send() {
    http::Backoff backoff({store_.attempts_, 0.25, 20}, how_.stop);
    bool known = false;  // how far the session is
    for (uint64_t at = 0;;) {
      if (note_.upload().empty()) {
        if (Status begun = begin(); !begun.ok()) return begun;
        at = 0;
        known = true;
      }
      auto answer = known ? send_chunk(at) : put({{"Content-Range", fmt::format("bytes */{}", size_)}}, {});
      const bool lost =
          !answer.ok() && (answer.status().code() == Code::Retry || answer.status().code() == Code::Timeout);
      if (!answer.ok() && !lost) return answer.status();
      if (lost || http::passing_status(answer->status)) {  // part of it may have come: ask
        known = false;
        Status why = lost ? answer.status() : store_.error(*answer, key_);
        if (!backoff.again()) return why;
        if (Status waited = backoff.wait(); !waited.ok())
          return waited.code() == Code::Timeout ? why : waited;
        continue;
      }
      if (answer->ok()) return finished(answer->body);
      if (answer->status == 404 || answer->status == 410) {  // the session has ended
        if (begun_anew_++ > 0) return store_.error(*answer, key_);
        note_.begun("");
        continue;
      }
      if (answer->status != 308) return store_.error(*answer, key_);
      const uint64_t there = received(*answer);
      if (there > size_ || (known && there < at))
        return Status(Code::Corrupt,
                      store_.address(key_) + ": the server reports a wrong number of received bytes");
      if (there > at) backoff.reset();
      at = there;
      known = true;
      if (how_.progress) how_.progress(at, size_);
    }
  }

  // The session's URL is a secret: who has it can write the object.
  Status begin() {
    http::Request request;
    request.body = nlohmann::json{{"name", key_}, {"crc32c", crc_}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
    Gcs::Call what{.method = "POST", .url = store_.upload_url("resumable", key_), .stop = how_.stop};
    what.headers = {{"Content-Type", "application/json; charset=UTF-8"},
                    {"X-Upload-Content-Type", "application/octet-stream"}};
    auto answer = store_.call(what, std::move(request));
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return store_.error(*answer, key_);
    const std::string session(answer->header("location"));
    if (session.empty())
      return {Code::Corrupt, store_.address(key_) + ": the server started an upload but returned no ID"};
    note_.begun(session);
    return {};
  }

  Result<http::Response> send_chunk(uint64_t at) {
    const uint64_t count = std::min(chunk_bytes(how_.part_bytes), size_ - at);
    http::Request request;
    request.upload_file = path_;
    request.upload_offset = at;
    request.upload_length = count;
    request.stall_seconds = kStall;
    if (how_.progress)
      request.progress = [&, at](uint64_t done, uint64_t) { how_.progress(at + done, size_); };
    return put({{"Content-Range", fmt::format("bytes {}-{}/{}", at, at + count - 1, size_)}},
               std::move(request));
  }

  // Not retried automatically: the session must first report how much has arrived.
  Result<http::Response> put(http::Headers headers, http::Request request) {
    request.method = "PUT";
    request.url = note_.upload();
    request.headers = std::move(headers);
    request.follow_redirects = false;
    request.user_agent = "radlc (store)";
    request.stop = how_.stop;
    return store_.http_.send(request);
  }

  Result<Object> finished(const std::string& body) {
    if (Status same = still_as_long(path_, size_); !same.ok()) return same;
    return store_.made(key_, body, crc_);
  }

  void give_up(const std::string& session) {
    http::Request request;
    request.method = "DELETE";
    request.url = session;
    request.follow_redirects = false;
    request.stop = Stop().within(std::chrono::seconds(10));
    (void)store_.http_.send(request);
  }

  Gcs& store_;
  const std::string key_, path_;
  const Upload& how_;
  const uint64_t size_;
  UploadNote note_;
  std::string crc_;
  int begun_anew_ = 0;
};

Result<Object> Gcs::put_file(const std::string& key, const std::string& path, const Upload& how) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, path);
  if (!S_ISREG(info.st_mode)) return invalid(path + " is not a regular file");
  const uint64_t whole = how.part_bytes > 0 ? std::min(how.part_bytes, kWhole) : kWhole;
  if (uint64_t(info.st_size) > whole) return GcsUpload(*this, key, path, info, how).run();
  auto bytes = read_file(path);
  return bytes.ok() ? put(key, std::move(*bytes), {}, how.stop) : bytes.status();
}

}  // namespace radl::transfer
