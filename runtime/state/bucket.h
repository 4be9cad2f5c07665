// A bucket or container as a state uses it: objects written only on conditions. Internal to runtime/state.
//
// What the store must support: a write that fails if the object exists, or if it has changed (Amazon S3:
// If-None-Match, If-Match; Google: ifGenerationMatch; Azure: If-None-Match, If-Match).
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
  double age = 0;  // seconds since it was written, both times by the server's clock
};

// What must hold of the existing object.
struct WriteIf {
  bool absent = false;  // there is none
  std::string etag;     // it has this one
};

// An object store (common/transfer/object_store.h) with its connections, and errors as a state needs them: a
// missing object is no error, a missing bucket is one. Thread-safe.
class Bucket {
 public:
  // By its address, "gs://BUCKET", and the credentials that the environment names. Sends nothing.
  static Result<std::unique_ptr<Bucket>> open(const std::string& address, const Environment& environment);

  // Nothing if there is no such object. Repeated until `stop`.
  Result<std::optional<BucketObject>> get(const std::string& key, const Stop& stop);
  // One attempt; gives the new ETag. Conflict: the condition does not hold. Lost, Retry, Timeout, Cancelled:
  // it may have been written.
  Result<std::string> put(const std::string& key, const std::string& body, const WriteIf& condition,
                          const Stop& stop);
  // Ok if the object does not exist.
  Status remove(const std::string& key, const Stop& stop) { return store_->remove(key, stop); }
  // Every key that begins so, sorted.
  Result<std::vector<std::string>> keys(const std::string& prefix, const Stop& stop);
  std::string url(const std::string& key) const { return address_ + "/" + key; }  // "gs://bucket/key"

 private:
  Bucket(std::string address, const Environment& environment)
      : address_(std::move(address)), http_(environment) {}

  const std::string address_;
  http::Client http_;
  std::unique_ptr<transfer::ObjectStore> store_;
};

// For a write that must not be left out because somebody asked to stop: `time`, and 3 s once `stop` is asked.
Stop for_a_write(const Stop& stop, std::chrono::milliseconds time);

// Puts until the outcome is known, for up to `time`: if an answer was lost, the object is read, and this
// write is recognized by its bytes, which therefore must be unlike all others. Conflict: somebody else wrote.
// Retry, Lost, Cancelled: not written, as far as is known, when the time was over or `stop` was asked.
Result<std::string> put_certainly(Bucket& bucket, const std::string& key, const std::string& body,
                                  const WriteIf& condition, std::chrono::milliseconds time, const Stop& stop);

}  // namespace radl
