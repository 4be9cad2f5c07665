// Objects under keys, written only on conditions: what a state needs of an object store. Internal to
// runtime/state.
//
// What a store must have for that: a write that fails where the object is there, or is not as it was (Amazon
// S3: If-None-Match, If-Match; Google: ifGenerationMatch; Azure: If-None-Match, If-Match).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

struct BucketObject {
  std::string body, etag;
  double age = 0;  // seconds since it was written, both times by the server's clock
};

// What must hold of the object that is there now.
struct WriteIf {
  bool absent = false;  // there is none
  std::string etag;     // it has this one
};

class Bucket {
 public:
  virtual ~Bucket() = default;
  // Nothing if there is no such object. Repeated until `stop`.
  virtual Result<std::optional<BucketObject>> get(const std::string& key, const Stop& stop) = 0;
  // One attempt; gives the new ETag. Conflict: the condition does not hold. Lost, Retry, Timeout, Cancelled:
  // it may have been written.
  virtual Result<std::string> put(const std::string& key, const std::string& body, const WriteIf& condition,
                                  const Stop& stop) = 0;
  // Ok if the object does not exist.
  virtual Status remove(const std::string& key, const Stop& stop) = 0;
  // Every key that begins so, sorted.
  virtual Result<std::vector<std::string>> keys(const std::string& prefix, const Stop& stop) = 0;
  virtual std::string url(const std::string& key) const = 0;  // "gs://bucket/key"
};

// For a write that must not be left out because somebody asked to stop: `time`, and 3 s once `stop` is asked.
Stop for_a_write(const Stop& stop, std::chrono::milliseconds time);

// Puts until it is known how that ended, for up to `time`: an answer that was lost is looked up, and this
// write known again by its bytes, which therefore must be unlike all others. Conflict: somebody else wrote.
// Retry, Lost, Cancelled: not written, as far as is known, when the time was over or `stop` was asked.
Result<std::string> put_certainly(Bucket& bucket, const std::string& key, const std::string& body,
                                  const WriteIf& condition, std::chrono::milliseconds time, const Stop& stop);

// By its address, "gs://BUCKET", and what the environment says of credentials
// (common/transfer/object_store.h).
Result<std::unique_ptr<Bucket>> open_bucket(const std::string& address, const Environment& environment);

}  // namespace radl
