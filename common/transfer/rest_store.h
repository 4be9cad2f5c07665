// Base class of object stores over REST: requests with renewed credentials, objects read whole, in ranges and
// to files, and concurrent removals. Subclasses define addresses, headers and errors (gcs.h, azure_blob.h,
// swift.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/transfer/object_store.h"
#include "common/transfer/ranged_download.h"

namespace radl::transfer {

// The longest lifetime of a presigned URL.
inline constexpr int kLongestSignedUrl = 7 * 24 * 3600;

class RestStore : public ObjectStore {
 public:
  Result<Object> head(const std::string& key, const Stop& stop = {}) override;
  Result<Fetched> get(const std::string& key, const Range& range = {}, const Stop& stop = {}) override;
  Status get_file(const std::string& key, Download what) override;
  Status remove(const std::string& key, const Stop& stop = {}) override;
  Status remove_many(const std::vector<std::string>& keys, const Stop& stop = {}) override;

 protected:
  RestStore(http::Client& http, int attempts, std::string ca_file = {});

  struct Call {
    std::string method = "GET";
    std::string url;  // without secrets
    http::Headers headers;
    bool once = false;  // a condition that the first may have changed: sent once, Lost when its answer is
    bool repeatable = true;  // for a POST
    Stop stop;
  };
  // Signs, sends and retries transient failures; also retries once with a new token if the first is refused.
  // Returns a response of any other status as a Response.
  Result<http::Response> call(const Call& what, http::Request request = {});

  // --- defined by each store
  // URLs for reading the object's bytes and for removing it. May send requests to find the address.
  virtual Result<std::string> bytes_url(const std::string& key, const Stop& stop) = 0;
  virtual Result<std::string> object_url(const std::string& key, const Stop& stop) = 0;
  // Headers of every request, besides the credentials.
  virtual http::Headers usual_headers() const { return {}; }
  // Called for each attempt. `request` has its URL and headers, and a body of `body_bytes`.
  virtual Result<http::Headers> authorization(const http::Request& request, uint64_t body_bytes,
                                              const Stop& stop) = 0;
  // The secret part of a URL, which messages must not show ("sig=..."); "" for none.
  virtual std::string secret_query() const { return {}; }
  // Handles an answer that denies access. True if something was corrected and a retry may succeed.
  virtual bool put_right(const http::Response& answer) = 0;
  // Describes the object from the response to a request for its bytes.
  virtual Described described(const http::Response& answer) const = 0;
  // Determines the length of the parts, if the checksum is over parts.
  virtual Status look_at_parts(const std::string&, Described&, const Stop&) { return {}; }
  // Makes the request fail with 412 unless the object still has this ETag.
  virtual void only_if(const std::string& etag, std::string& url, http::Headers& headers) const = 0;
  // `key`: the requested object, or "" for the container.
  virtual Status error(const http::Response& answer, const std::string& key) const = 0;
  // Sends HEAD, or the store's equivalent.
  virtual Result<Described> look(const std::string& key, std::time_t* modified, const Stop& stop);

  // Appends "name=value&..." to a URL with or without a query.
  static std::string with_query(const std::string& url, const http::Headers& query);

  http::Client& http_;
  const int attempts_;
  const std::string ca_file_;

 private:
  class Ranges;
  Result<std::optional<Described>> get_small(const std::string& key, const Download& what);
};

// A NotFound for which is_missing_container() is true.
Status no_container(const std::string& address);
// Interprets the response to a conditional write that was sent once: Exists (if_absent), Conflict, or Lost if
// it may have happened; nullopt if it succeeded or failed like any other request.
std::optional<Status> condition_answer(const http::Response& answer, const PutCondition& condition,
                                       const std::string& address);

std::time_t http_time(std::string_view header);  // 0 if invalid
uint64_t content_length(const http::Response& answer);

}  // namespace radl::transfer
