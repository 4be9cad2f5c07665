// A bucket or container of a state: objects are written conditionally. Internal to runtime/state.
//
// The store must support writes that fail if the object exists or has changed (Amazon S3: If-None-Match,
// If-Match; Google: ifGenerationMatch; Azure: If-None-Match, If-Match).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"
#include "common/transfer/object_store.h"

namespace radl {

struct BucketObject {
  std::string body, etag;
  double age = 0;  // seconds since it was written, by the server's clock
};

// Precondition on the existing object.
struct WriteIf {
  bool absent = false;  // no object exists
  std::string etag;     // the object has this ETag
};

// An object store (common/transfer/object_store.h) with its connections, and the error semantics of a state:
// a missing object is not an error, a missing bucket is. Thread-safe.
class Bucket {
 public:
  // Opens an address, "gs://BUCKET", with credentials from the environment. Sends nothing.
  static Result<std::unique_ptr<Bucket>> open(const std::string& address, const Environment& environment);

  // nullopt if the object does not exist. Retries until `stop`.
  Result<std::optional<BucketObject>> get(const std::string& key, const Stop& stop);
  // Makes one attempt; returns the new ETag. Conflict: the condition is false. Lost, Retry, Timeout,
  // Cancelled: it may have been written.
  Result<std::string> put(const std::string& key, const std::string& body, const WriteIf& condition,
                          const Stop& stop);
  // Succeeds if the object does not exist.
  Status remove(const std::string& key, const Stop& stop) { return store_->remove(key, stop); }
  // All keys with that prefix, sorted.
  Result<std::vector<std::string>> keys(const std::string& prefix, const Stop& stop);
  std::string url(const std::string& key) const { return address_ + "/" + key; }  // "gs://bucket/key"

 private:
  Bucket(std::string address, const Environment& environment)
      : address_(std::move(address)), http_(environment) {}

  const std::string address_;
  http::Client http_;
  std::unique_ptr<transfer::ObjectStore> store_;
};

// For a write that must survive a stop request: `time`, reduced to 3 s once `stop` is requested.
Stop for_a_write(const Stop& stop, std::chrono::milliseconds time);

// Retries a write until the outcome is known, for up to `time`. After a lost response it reads the object and
// recognizes its own write by the bytes, which must therefore be unique. Conflict: another writer was faster.
// Retry, Lost, Cancelled: not known to be written by the end of the time or the stop.
Result<std::string> put_certainly(Bucket& bucket, const std::string& key, const std::string& body,
                                  const WriteIf& condition, std::chrono::milliseconds time, const Stop& stop);

}  // namespace radl
