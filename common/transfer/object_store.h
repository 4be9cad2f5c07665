// Interface to one bucket or container: the operations that all supported stores share. Amazon S3 (s3.h),
// Google Cloud Storage (gcs.h), Azure Blob (azure_blob.h), OpenStack Swift (swift.h).
//
// Thread-safe. Errors: NotFound, Auth, Exists and Conflict (preconditions), Quota, Corrupt (checksum), Retry
// and Timeout (already retried with backoff), Cancelled, Lost (a conditional write without a response: check
// before you retry). They name the store's own code and the object's address.
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
  std::string key, etag;  // etag: version of the content: the unquoted ETag, or Google's generation
  uint64_t size = 0;
  std::time_t modified = 0;  // server time; 0 if the server did not send it
};

struct Fetched {
  Object object;
  std::string bytes;
  std::time_t served = 0;  // the server's time of the response; 0 if not sent
};

struct Range {
  uint64_t first = 0, count = 0;  // bytes first .. first + count - 1; count 0: to the end
};

// Precondition on the existing object.
struct PutCondition {
  bool if_absent = false;  // else Exists
  std::string if_match;    // the object has this ETag, else Conflict
};

struct Upload {
  uint64_t part_bytes = 0;  // of large files; 0: by the file's size. At most 10,000 parts, of 5 MiB and more
  int parallel = 8;         // maximum concurrent parts
  std::function<void(uint64_t done, uint64_t total)> progress;  // called from one thread at a time
  Stop stop;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // "gs://bucket/key", for messages.
  virtual std::string address(const std::string& key) const = 0;

  virtual Result<Object> head(const std::string& key, const Stop& stop = {}) = 0;
  // Reads into memory. Verifies whole objects against the checksum that the store keeps.
  virtual Result<Fetched> get(const std::string& key, const Range& range = {}, const Stop& stop = {}) = 0;
  // Downloads to a file, like download(): resumable and atomic. Verifies the store's checksum, if any.
  // Fetches large objects in concurrent ranges.
  virtual Status get_file(const std::string& key, Download what) = 0;

  // A conditional write is sent once. Retry and Timeout mean that it did not happen; Lost means that it may
  // have.
  virtual Result<Object> put(const std::string& key, std::string bytes, const PutCondition& condition = {},
                             const Stop& stop = {}) = 0;
  // Uploads large files in concurrent parts. The next call resumes an interrupted upload, even after kill -9,
  // with the help of PATH.radl-upload-*.json beside the file. If the file has changed since, it aborts the
  // old upload.
  virtual Result<Object> put_file(const std::string& key, const std::string& path,
                                  const Upload& how = {}) = 0;
  virtual Result<Object> copy(const std::string& from, const std::string& to, const Stop& stop = {}) = 0;

  // Returns objects whose key starts with `prefix`, sorted by key.
  virtual Result<std::vector<Object>> list(const std::string& prefix, const Stop& stop = {}) = 0;
  // Succeeds if the object does not exist.
  virtual Status remove(const std::string& key, const Stop& stop = {}) = 0;
  // The error lists every key that was not removed.
  virtual Status remove_many(const std::vector<std::string>& keys, const Stop& stop = {}) = 0;

  // A URL that grants GET or PUT on one object for `seconds` (at most 7 days). It is a secret: never log it.
  virtual Result<std::string> presign(const std::string& method, const std::string& key, int seconds,
                                      const Stop& stop = {}) = 0;
  // Aborts unfinished uploads under `prefix` that started before `begun_before`. Returns their number.
  virtual Result<int> abort_uploads(const std::string& prefix, std::time_t begun_before,
                                    const Stop& stop = {}) = 0;
};

struct OpenedStore {
  std::unique_ptr<ObjectStore> store;
  std::string key;  // from the URI; may be empty or end in '/'
};
// Opens an address (common/store_address.h), with credentials and endpoints from the environment and files
// that the vendor's own tools read (docs/object-stores.md). Contacts no server. Invalid: not such an address.
// `http` must outlive the store.
Result<OpenedStore> open_object_store(http::Client& http, const std::string& uri);
// Whether a NotFound means a missing bucket or container, not a missing object.
bool is_missing_container(const Status& status);

}  // namespace radl::transfer
