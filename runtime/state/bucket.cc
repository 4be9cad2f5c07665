#include "runtime/state/bucket.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <mutex>

namespace radl {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstWait{50}, kLongestWait{2000};
// For a write and the check of its outcome, even after the deadline (the process was suspended).
constexpr milliseconds kAtLeast{3000};

milliseconds left_until(steady_clock::time_point end) {
  return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(end - steady_clock::now()));
}

// A missing bucket must not be taken for a place without a state.
Status said(Status status) {
  if (status.code() != Code::NotFound) return status;
  return Status(Code::Invalid, status.message())
      .with_hint("create the bucket or container first, or check its name, region and account");
}

bool is_missing_key(const Status& status) {
  return status.code() == Code::NotFound && !transfer::is_missing_container(status);
}

}  // namespace

Result<std::unique_ptr<Bucket>> Bucket::open(const std::string& address, const Environment& environment) {
  std::unique_ptr<Bucket> bucket(new Bucket(address, environment));
  Result<transfer::OpenedStore> opened = transfer::open_object_store(bucket->http_, address);
  if (!opened.ok()) return opened.status();
  bucket->store_ = std::move(opened->store);
  return bucket;
}

Result<std::optional<BucketObject>> Bucket::get(const std::string& key, const Stop& stop) {
  Result<transfer::Fetched> content = store_->get(key, {}, stop);
  if (!content.ok() && is_missing_key(content.status())) return std::optional<BucketObject>();
  if (!content.ok()) return said(content.status());
  if (content->served == 0 || content->object.modified == 0 || content->object.etag.empty())
    return Status(Code::Unsupported, url(key) + ": the server's answer has no times or no ETag");
  BucketObject object;
  object.body = std::move(content->bytes);
  object.etag = std::move(content->object.etag);
  object.age = std::max(0.0, std::difftime(content->served, content->object.modified));
  return std::optional<BucketObject>(std::move(object));
}

Result<std::string> Bucket::put(const std::string& key, const std::string& body, const WriteIf& condition,
                                const Stop& stop) {
  Result<transfer::Object> written = store_->put(key, body, {condition.absent, condition.etag}, stop);
  if (written.ok()) return written->etag;
  // If-Match on a missing object is answered 404, which is as good as another ETag.
  const bool gone = !condition.etag.empty() && is_missing_key(written.status());
  if (written.status().code() == Code::Exists || gone)
    return Status(Code::Conflict, written.status().message());
  return written.status();
}

Result<std::vector<std::string>> Bucket::keys(const std::string& prefix, const Stop& stop) {
  Result<std::vector<transfer::Object>> objects = store_->list(prefix, stop);
  if (!objects.ok()) return said(objects.status());
  std::vector<std::string> keys;
  for (const transfer::Object& object : *objects) keys.push_back(object.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

Stop for_a_write(const Stop& stop, milliseconds time) {
  auto asked_at = std::make_shared<std::optional<steady_clock::time_point>>();
  const Stop late = Stop::when([stop, asked_at, turn = std::make_shared<std::mutex>()] {
    if (!stop.asked()) return false;
    std::lock_guard guard(*turn);
    if (!*asked_at) *asked_at = steady_clock::now();
    return steady_clock::now() - **asked_at >= kAtLeast;
  });
  return late.within(time);
}

Result<std::string> put_certainly(Bucket& bucket, const std::string& key, const std::string& body,
                                  const WriteIf& condition, milliseconds time, const Stop& stop) {
  const auto end = steady_clock::now() + time;
  for (milliseconds wait = kFirstWait;; wait = std::min(wait * 2, kLongestWait)) {
    Result<std::string> written = bucket.put(key, body, condition, for_a_write(stop, left_until(end)));
    if (written.ok()) return written;
    const Code code = written.status().code();
    const bool unknown =
        code == Code::Lost || code == Code::Retry || code == Code::Timeout || code == Code::Cancelled;
    if (!unknown && code != Code::Conflict) return written;
    // A conflict too may be with this very write: the server, or the HTTP library, repeated it.
    Result<std::optional<BucketObject>> now =
        bucket.get(key, for_a_write(stop, std::max(kAtLeast, left_until(end))));
    if (now.ok()) {
      if (*now && (*now)->body == body) return (*now)->etag;
      if (code == Code::Conflict) return written;
      const bool as_before = condition.absent ? !now->has_value() : *now && (*now)->etag == condition.etag;
      if (!as_before) return Status(Code::Conflict, bucket.url(key) + ": another run has written it");
    }
    if (steady_clock::now() + wait >= end || !stop.sleep(wait)) return written;
  }
}

}  // namespace radl
