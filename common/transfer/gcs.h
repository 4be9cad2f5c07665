// Google Cloud Storage: its JSON API for objects, resumable uploads, signed URLs (V4). Source: Cloud Storage
// documentation, JSON API reference (v1), "Resumable uploads", "Request preconditions", "Data validation and
// change detection", "V4 signing process with your own program".
//
// An object's etag here is its generation, which Google's preconditions compare.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/google/settings.h"
#include "common/transfer/rest_store.h"
#include "common/transfer/token_source.h"

namespace radl::transfer {

struct GcsOptions {
  std::string endpoint = "https://storage.googleapis.com";  // without a trailing slash
  std::shared_ptr<TokenSource> tokens;                      // null: an emulator, or public buckets
  google::Credential signer;                                // only a service account's key can sign URLs
  std::string billed_project;  // "": requests are charged to the bucket's project
  int attempts = 6;
};

// STORAGE_EMULATOR_HOST ("localhost:4443" or a URL) names a server without credentials; otherwise
// CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE overrides the endpoint. Finds credentials like Google's libraries
// (common/google/settings.h); without any, buckets must be public. GOOGLE_CLOUD_QUOTA_PROJECT: the project
// that is charged.
Result<GcsOptions> gcs_options(http::Client& http, const Lookup& environment);

class Gcs : public RestStore {
 public:
  Gcs(http::Client& http, GcsOptions options, std::string bucket);

  std::string address(const std::string& key) const override;
  Result<Object> put(const std::string& key, std::string bytes, const PutCondition& condition = {},
                     const Stop& stop = {}) override;
  // Sends large files in one resumable session, 32 MiB at a time; Upload::parallel has no effect.
  Result<Object> put_file(const std::string& key, const std::string& path, const Upload& how = {}) override;
  Result<Object> copy(const std::string& from, const std::string& to, const Stop& stop = {}) override;
  Result<std::vector<Object>> list(const std::string& prefix, const Stop& stop = {}) override;
  // Auth: the credential is not a service account's key.
  Result<std::string> presign(const std::string& method, const std::string& key, int seconds,
                              const Stop& stop = {}) override;
  // Google cannot list unfinished sessions. They leave nothing behind and expire after a week.
  Result<int> abort_uploads(const std::string&, std::time_t, const Stop& = {}) override { return 0; }

 protected:
  Result<std::string> bytes_url(const std::string& key, const Stop& stop) override;
  Result<std::string> object_url(const std::string& key, const Stop& stop) override;
  http::Headers usual_headers() const override;
  Result<http::Headers> authorization(const http::Request& request, uint64_t body_bytes,
                                      const Stop& stop) override;
  bool put_right(const http::Response& answer) override;
  Described described(const http::Response& answer) const override;
  void only_if(const std::string& etag, std::string& url, http::Headers& headers) const override;
  Status error(const http::Response& answer, const std::string& key) const override;
  Result<Described> look(const std::string& key, std::time_t* modified, const Stop& stop) override;

 private:
  friend class GcsUpload;
  std::string json_url(const std::string& key) const;
  std::string upload_url(const std::string& type, const std::string& key) const;
  // Parses the resource of a new object and compares its checksum with that of the bytes sent.
  Result<Object> made(const std::string& key, const std::string& json, const std::string& crc) const;

  const GcsOptions options_;
  const std::string bucket_;
  std::mutex mutex_;
  std::string token_;  // used last
};

// The query of a signed URL: sorted, encoded, with the signature. `path` as encoded in the URL; `now`:
// seconds since 1970. Auth: the credential has no key.
Result<std::string> gcs_signed_query(const google::Credential& signer, const std::string& method,
                                     const std::string& host, const std::string& path, int seconds,
                                     std::time_t now);

}  // namespace radl::transfer
