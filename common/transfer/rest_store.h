// What object stores over REST have in common: requests with credentials that are renewed, objects read
// whole, in ranges and to files, and many removed side by side. A store of its own says what its addresses,
// headers and errors are (gcs.h, azure_blob.h, swift.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/transfer/object_store.h"
#include "common/transfer/ranged_download.h"

namespace radl::transfer {

// The longest validity of a presigned URL.
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
    std::string url;  // without what is secret
    http::Headers headers;
    bool once = false;  // a condition that the first may have changed: sent once, Lost when its answer is
    bool repeatable = true;  // of a POST
    Stop stop;
  };
  // Signs, sends, repeats what may pass, and once more with another token where the first is refused. An
  // answer of any other status is a Response.
  Result<http::Response> call(const Call& what, http::Request request = {});

  // --- what a store says of itself
  // Where the object's bytes are read, and where it is removed. Not pure where the address is looked up.
  virtual Result<std::string> bytes_url(const std::string& key, const Stop& stop) = 0;
  virtual Result<std::string> object_url(const std::string& key, const Stop& stop) = 0;
  // Headers that every request has, besides those of its credentials.
  virtual http::Headers usual_headers() const { return {}; }
  // Called for each attempt; `request` has its URL and headers, and a body of `body_bytes`.
  virtual Result<http::Headers> authorization(const http::Request& request, uint64_t body_bytes,
                                              const Stop& stop) = 0;
  // A URL's secret part, which no message shows ("sig=..."); "" for none.
  virtual std::string secret_query() const { return {}; }
  // Handles an answer that denies access. True if something was corrected and a retry may succeed.
  virtual bool put_right(const http::Response& answer) = 0;
  // Describes the object by the answer to a request for its bytes.
  virtual Described described(const http::Response& answer) const = 0;
  // Finds out how long the parts are, where the checksum is one of parts.
  virtual Status look_at_parts(const std::string&, Described&, const Stop&) { return {}; }
  // The request is answered with 412 unless the object is as it was then.
  virtual void only_if(const std::string& etag, std::string& url, http::Headers& headers) const = 0;
  // `key`: of the object that was asked for, "" where it was the container.
  virtual Status error(const http::Response& answer, const std::string& key) const = 0;
  // HEAD, or what the store has for it.
  virtual Result<Described> look(const std::string& key, std::time_t* modified, const Stop& stop);

  // url + "name=value&..." whether it has a query or not.
  static std::string with_query(const std::string& url, const http::Headers& query);

  http::Client& http_;
  const int attempts_;
  const std::string ca_file_;

 private:
  class Ranges;
  Result<std::optional<Described>> get_small(const std::string& key, const Download& what);
};

// A NotFound of which is_missing_container() is true.
Status no_container(const std::string& address);
// Of a write on a condition that was sent once and answered so: Exists where it was to be absent, Conflict,
// Lost where it may have been done; nothing where it was done, or its error is like any other's.
std::optional<Status> condition_answer(const http::Response& answer, const PutCondition& condition,
                                       const std::string& address);

std::time_t http_time(std::string_view header);  // 0 where it is none
uint64_t content_length(const http::Response& answer);

}  // namespace radl::transfer
