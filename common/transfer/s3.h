// Amazon S3 and servers that speak its protocol (MinIO, Ceph, R2, ...) as an object store.
// Source: Amazon S3 API Reference and User Guide ("Checking object integrity", "Multipart upload").
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/aws/credentials.h"
#include "common/aws/settings.h"
#include "common/aws/sigv4.h"
#include "common/transfer/object_store.h"

namespace radl::transfer {

struct S3Options {
  enum class Addressing {
    Auto,     // virtual host; path for other endpoints and for buckets that are not host names
    Virtual,  // https://bucket.host/key
    Path,     // https://host/bucket/key
  };
  std::string region = "us-east-1";
  std::string endpoint;  // "": Amazon's own; else "https://host[:port]"
  Addressing addressing = Addressing::Auto;
  std::shared_ptr<aws::CredentialSource> credentials;  // null or anonymous: requests are not signed
  std::string ca_file;                                 // "": the system's
  int attempts = 6;
};

// AWS_S3_ADDRESSING or the profile's s3 addressing_style is "auto", "virtual" or "path". If no credentials
// are found, requests are not signed (public buckets).
Result<S3Options> s3_options(http::Client& http, std::shared_ptr<const aws::Configuration> configuration);

// The part size for a file of `size` bytes: the requested one (0: 16 MiB), at least 5 MiB, at most 10,000
// parts.
uint64_t upload_part_bytes(uint64_t wanted, uint64_t size);

class S3 : public ObjectStore {
 public:
  S3(http::Client& http, S3Options options, std::string bucket);

  std::string address(const std::string& key) const override;
  Result<Object> head(const std::string& key, const Stop& stop = {}) override;
  Result<Fetched> get(const std::string& key, const Range& range = {}, const Stop& stop = {}) override;
  Status get_file(const std::string& key, Download what) override;
  Result<Object> put(const std::string& key, std::string bytes, const PutCondition& condition = {},
                     const Stop& stop = {}) override;
  Result<Object> put_file(const std::string& key, const std::string& path, const Upload& how = {}) override;
  Result<Object> copy(const std::string& from, const std::string& to, const Stop& stop = {}) override;
  Result<std::vector<Object>> list(const std::string& prefix, const Stop& stop = {}) override;
  Status remove(const std::string& key, const Stop& stop = {}) override;
  Status remove_many(const std::vector<std::string>& keys, const Stop& stop = {}) override;
  Result<std::string> presign(const std::string& method, const std::string& key, int seconds,
                              const Stop& stop = {}) override;
  Result<int> abort_uploads(const std::string& prefix, std::time_t begun_before,
                            const Stop& stop = {}) override;

 private:
  friend class S3Upload;
  friend class S3Ranges;

  // A request without its body.
  struct Call {
    std::string method, key;
    http::Headers query, headers;
    bool once = false;  // not retried: the first attempt may have changed the condition
    Stop stop;
  };
  struct Place {
    std::string base, host, path;  // "https://host"; as in Host; decoded path
  };
  Place place(const std::string& key, const std::string& region) const;
  bool path_style() const;
  std::string region() const;
  // Signs, sends, follows to the bucket's region, and corrects a wrong clock or expired keys. Returns a
  // response of any other status as a Response.
  Result<http::Response> call(const Call& what, http::Request request = {});
  // For operations that the server may begin to answer before it has finished: a 200 that carries a transient
  // error is retried like a 500.
  Result<http::Response> call_late(const Call& what, const http::Request& request = {});
  Status remove_listed(const Call& what, const http::Request& request);
  // The final request, signed at each attempt. `signed_by` receives the keys used last.
  http::Request prepared(const Call& what, http::Request request, aws::Credentials* signed_by) const;
  // True if something was corrected and a retry may succeed.
  bool put_right(const http::Response& answer, const aws::Credentials& signed_by, int& tries);
  Result<Object> put_whole(const std::string& key, const std::string& path, uint64_t size, const Upload& how);

  http::Client& http_;
  const S3Options options_;
  const std::string bucket_;
  std::atomic<long long> clock_offset_{0};  // seconds to add to this computer's clock
  mutable std::mutex mutex_;
  std::string region_;  // the bucket's region, if known
};

}  // namespace radl::transfer
