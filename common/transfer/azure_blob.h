// Azure Blob Storage: block blobs, authorized by an account key, a shared access signature or a token.
// Source: Azure Storage REST API reference: "Authorize with Shared Key", "Create a service SAS", "Put Blob",
// "Put Block List", "List Blobs", "Specifying conditional headers for Blob service operations".
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/transfer/rest_store.h"
#include "common/transfer/token_source.h"

namespace radl::transfer {

struct AzureBlobOptions {
  std::string endpoint;  // "https://ACCOUNT.blob.core.windows.net"; for Azurite "http://HOST:PORT/ACCOUNT"
  std::string account;
  // The first that is set is used. If none is, containers must be public.
  std::string key;  // the account key, decoded
  std::string sas;  // the query of a shared access signature, without '?'
  std::shared_ptr<TokenSource> tokens;
  int attempts = 6;
};

// Tokens of the Azure login (common/azure/settings.h); null if there is none.
Result<std::shared_ptr<TokenSource>> azure_tokens(http::Client& http, const Lookup& environment);
// Reads AZURE_STORAGE_CONNECTION_STRING, else AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or
// AZURE_STORAGE_SAS_TOKEN and, for a custom endpoint, AZURE_STORAGE_SERVICE_ENDPOINT, like `az storage`.
// `account_url`: from an address that names its account, else "". Invalid: no account is named, or a setting
// is unusable.
Result<AzureBlobOptions> azure_blob_options(const std::string& account_url, const Lookup& environment);

class AzureBlob : public RestStore {
 public:
  AzureBlob(http::Client& http, AzureBlobOptions options, std::string container);

  std::string address(const std::string& key) const override;
  Result<Object> put(const std::string& key, std::string bytes, const PutCondition& condition = {},
                     const Stop& stop = {}) override;
  Result<Object> put_file(const std::string& key, const std::string& path, const Upload& how = {}) override;
  Result<Object> copy(const std::string& from, const std::string& to, const Stop& stop = {}) override;
  Result<std::vector<Object>> list(const std::string& prefix, const Stop& stop = {}) override;
  // A shared access signature for this blob only. A PUT needs the header x-ms-blob-type: BlockBlob. Auth:
  // there is no account key to sign with.
  Result<std::string> presign(const std::string& method, const std::string& key, int seconds,
                              const Stop& stop = {}) override;
  // Azure deletes uncommitted blocks itself after a week, and cannot list them by time.
  Result<int> abort_uploads(const std::string&, std::time_t, const Stop& = {}) override { return 0; }

 protected:
  Result<std::string> bytes_url(const std::string& key, const Stop& stop) override;
  Result<std::string> object_url(const std::string& key, const Stop& stop) override;
  Result<http::Headers> authorization(const http::Request& request, uint64_t body_bytes,
                                      const Stop& stop) override;
  std::string secret_query() const override { return options_.key.empty() ? options_.sas : ""; }
  bool put_right(const http::Response& answer) override;
  Described described(const http::Response& answer) const override;
  void only_if(const std::string& etag, std::string& url, http::Headers& headers) const override;
  Status error(const http::Response& answer, const std::string& key) const override;

 private:
  friend class AzureUpload;
  std::string url(const std::string& key) const;
  Result<Object> put_whole(const std::string& key, const std::string& path, uint64_t size, const Upload& how);

  const AzureBlobOptions options_;
  const std::string container_;
  std::atomic<long long> clock_offset_{0};  // seconds to add to this computer's clock
  std::mutex mutex_;
  std::string token_;  // used last
};

// --- pure functions

// The value of Authorization for a request with these headers, including x-ms-date and x-ms-version.
std::string azure_shared_key(const AzureBlobOptions& options, const http::Request& request,
                             uint64_t body_bytes);
// The query of a service SAS for one blob. `permissions`: "r", "cw"; `expires`: seconds since 1970.
std::string azure_blob_sas(const AzureBlobOptions& options, const std::string& container,
                           const std::string& key, const std::string& permissions, std::time_t expires);

// A page of List Blobs. Corrupt: not such a list, or an entry without the prefix.
struct AzurePage {
  std::vector<Object> objects;
  std::string next;  // "" on the last page
};
Result<AzurePage> parse_azure_list(std::string_view xml, std::string_view prefix);
// The uncommitted blocks of Get Block List: ID as written, and size.
Result<std::vector<std::pair<std::string, uint64_t>>> parse_azure_blocks(std::string_view xml);

}  // namespace radl::transfer
