// Objects under keys in one bucket or container: what every object store can do. Amazon S3 (s3.h), Google
// Cloud Storage (gcs.h), Azure Blob (azure_blob.h), OpenStack Swift (swift.h).
//
// Thread-safe. Errors: NotFound, Auth, Exists and Conflict (conditions), Quota, Corrupt (a checksum), Retry
// and Timeout (repeated already, with backoff), Cancelled, Lost (a conditional write whose answer is unknown:
// look before repeating). They name the store's own code and the object's address.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"
#include "common/transfer/download.h"

namespace radl::transfer {

struct Object {
  std::string key, etag;  // what changes with the content: the ETag without quotes, Google's generation
  uint64_t size = 0;
  std::time_t modified = 0;  // by the server's clock; 0 where it was not said
};

struct Fetched {
  Object object;
  std::string bytes;
  std::time_t served = 0;  // the server's clock when it answered; 0: not said
};

struct Range {
  uint64_t first = 0, count = 0;  // bytes first .. first + count - 1; count 0: to the end
};

// What must hold of the existing object.
struct PutCondition {
  bool if_absent = false;  // else Exists
  std::string if_match;    // it has this ETag, else Conflict
};

struct Upload {
  uint64_t part_bytes = 0;  // of large files; 0: by the file's size. At most 10,000 parts, of 5 MiB and more
  int parallel = 8;         // parts at a time
  std::function<void(uint64_t done, uint64_t total)> progress;  // from one thread at a time
  Stop stop;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // "gs://bucket/key", for messages.
  virtual std::string address(const std::string& key) const = 0;

  virtual Result<Object> head(const std::string& key, const Stop& stop = {}) = 0;
  // Into memory; whole objects are checked against the checksum that the store keeps.
  virtual Result<Fetched> get(const std::string& key, const Range& range = {}, const Stop& stop = {}) = 0;
  // As download(): resumable, there whole or not at all, checked against the store's checksum where it keeps
  // one. Large objects come in ranges, several at a time.
  virtual Status get_file(const std::string& key, Download what) = 0;

  // A write with a condition is sent once: Retry and Timeout say that it was not done, Lost that it may have
  // been.
  virtual Result<Object> put(const std::string& key, std::string bytes, const PutCondition& condition = {},
                             const Stop& stop = {}) = 0;
  // Large files in parts, several at a time. An upload that was interrupted, also by kill -9, goes on at the
  // next call: PATH.radl-upload-*.json beside the file names it. One that the file has outlived is taken
  // back.
  virtual Result<Object> put_file(const std::string& key, const std::string& path,
                                  const Upload& how = {}) = 0;
  virtual Result<Object> copy(const std::string& from, const std::string& to, const Stop& stop = {}) = 0;

  // All whose key begins so, by key.
  virtual Result<std::vector<Object>> list(const std::string& prefix, const Stop& stop = {}) = 0;
  // Ok if it does not exist.
  virtual Status remove(const std::string& key, const Stop& stop = {}) = 0;
  // Those that could not be removed are named.
  virtual Status remove_many(const std::vector<std::string>& keys, const Stop& stop = {}) = 0;

  // A presigned URL, valid for `seconds` (at most 7 days), to GET or PUT one object. It is a secret.
  virtual Result<std::string> presign(const std::string& method, const std::string& key, int seconds,
                                      const Stop& stop = {}) = 0;
  // Takes back uploads below the prefix that were begun before this time and never finished; their number.
  virtual Result<int> abort_uploads(const std::string& prefix, std::time_t begun_before,
                                    const Stop& stop = {}) = 0;
};

struct OpenedStore {
  std::unique_ptr<ObjectStore> store;
  std::string key;  // of the URI; may be empty or end in '/'
};
// An address (common/store_address.h), by what environment and files say of credentials and endpoints as the
// vendor's own tools read them (docs/object-stores.md). Nothing is asked of it yet. Invalid: no such address.
// `http` outlives it.
Result<OpenedStore> open_object_store(http::Client& http, const std::string& uri);
// Whether a NotFound means a missing bucket or container, not a missing object.
bool is_missing_container(const Status& status);

}  // namespace radl::transfer
