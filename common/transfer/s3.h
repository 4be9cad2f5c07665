// Amazon S3 and servers that speak its protocol (MinIO, Ceph, R2, ...).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/aws/sigv4.h"
#include "common/http/http.h"
#include "common/status.h"
#include "common/transfer/download.h"

namespace radl::transfer {

struct S3Options {
  std::string region = "us-east-1";
  std::string endpoint;          // "": Amazon's own; else "https://host[:port]", with the bucket in the path
  aws::Credentials credentials;  // without a key requests are not signed (public buckets)
};

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, else the profile AWS_PROFILE (default
// "default") of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); AWS_REGION or AWS_DEFAULT_REGION;
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. Auth: only half a key is there.
Result<S3Options> s3_options_from_environment();

struct S3Object {
  std::string key, etag;
  uint64_t size = 0;
};

struct PutCondition {
  bool if_absent = false;  // fail with Exists when the key is there
  std::string if_match;    // fail with Conflict unless the stored object has this ETag
};

// Errors carry S3's own code and message; 404 NotFound, wrong keys Auth, 503 SlowDown Retry (already
// repeated). Every call signs anew at each attempt.
class S3 {
 public:
  S3(http::Client& http, S3Options options) : http_(http), options_(std::move(options)) {}

  Result<S3Object> head(const std::string& bucket, const std::string& key);
  // Bytes first .. first + count - 1; count 0: to the end.
  Result<std::string> get(const std::string& bucket, const std::string& key, uint64_t first = 0,
                          uint64_t count = 0);
  // Resumable, as download().
  Status get_file(const std::string& bucket, const std::string& key, Download what);
  Result<S3Object> put(const std::string& bucket, const std::string& key, std::string body,
                       const PutCondition& condition = {});
  // In parts of `part_bytes` when it is larger; an upload that fails is taken back.
  Result<S3Object> put_file(const std::string& bucket, const std::string& key, const std::string& path,
                            uint64_t part_bytes = uint64_t{16} << 20);
  // All keys with the prefix, page by page, in their order.
  Result<std::vector<S3Object>> list(const std::string& bucket, const std::string& prefix);
  Status remove(const std::string& bucket, const std::string& key);

 private:
  struct Place {
    std::string base, host, path;  // "https://host", as in Host, decoded path
  };
  Result<Place> place(const std::string& bucket, const std::string& key) const;
  Result<http::Response> call(const std::string& method, const std::string& bucket, const std::string& key,
                              const http::Headers& query, const http::Headers& headers,
                              const http::Request& body, bool repeat = true);
  Result<S3Object> put_parts(const std::string& bucket, const std::string& key, const std::string& path,
                             uint64_t size, uint64_t part_bytes, const std::string& upload);

  http::Client& http_;
  S3Options options_;
};

}  // namespace radl::transfer
