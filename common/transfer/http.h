// HTTP and HTTPS over libcurl: what every client of ours (data sources, S3, WebHDFS, clouds) sends through.
//
// Certificates are always checked. Proxies come from http_proxy, https_proxy, no_proxy; another set of
// trusted certificates from CURL_CA_BUNDLE or SSL_CERT_FILE. Errors name method and URL without its query and
// password.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::transfer {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Response;

struct Request {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::function<Headers()> signing;  // more headers, asked for at each attempt: signatures run out
  // A POST or PATCH that may be sent more than once without doing more: it carries a token by which the
  // server knows it again, or only asks. GET, HEAD, PUT, DELETE and OPTIONS always may.
  bool idempotent = false;
  std::string body;         // sent as it is
  std::string upload_file;  // instead of body: this file, from upload_offset, upload_length bytes
  uint64_t upload_offset = 0, upload_length = 0;
  double connect_seconds = 10;
  double stall_seconds = 30;    // give up when nothing has moved for so long
  double deadline_seconds = 0;  // for the whole request; 0: none
  bool follow_redirects = true;
  size_t largest_answer = size_t{256} << 20;  // of a body kept in memory; more is Quota
  // Gets the body of a 2xx answer piece by piece instead of Response::body; an error stops the transfer.
  std::function<Status(std::string_view piece)> sink;
  // Called with status and headers of a 2xx answer before its body; an error stops the transfer.
  std::function<Status(const Response& head)> on_headers;
  // Bytes of the body so far and in all (0: not known), for a progress display.
  std::function<void(uint64_t done, uint64_t total)> progress;
  const std::atomic<bool>* cancelled = nullptr;
};

struct Response {
  int status = 0;
  Headers headers;  // names in lower case; of the last answer when redirected
  std::string body;
  bool ok() const { return status >= 200 && status < 300; }
  std::string_view header(std::string_view lower_case_name) const;  // "" when absent
};

struct Retries {
  int attempts = 4;             // in all
  double first_seconds = 0.25;  // doubled each time; a random part of it is waited (retry.h)
  double largest_seconds = 8;
  double longest_retry_after = 60;  // a server that asks for more is not waited for
  double deadline_seconds = 0;      // no attempt begins later than this after the first one; 0: none
};

// Thread-safe; keeps connections open and uses them again.
class Http {
 public:
  Http();
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  // One attempt. An answer of any status is a Response. Retry: the server was not reached or the connection
  // broke before anything can have happened (for GET, HEAD, PUT, DELETE: broke at all); Lost: POST or PATCH
  // went out and its answer is unknown; Timeout; Auth: certificate; Cancelled.
  Result<Response> send(const Request& request);

  // Repeats on Retry, Timeout and the statuses 408, 429, 500, 502, 503, 504, with backoff; a POST or PATCH
  // that is not `idempotent` only where the server cannot have acted on it: not reached, or 429. A Lost is
  // not repeated, and nothing is once the sink has been given bytes.
  Result<Response> send(const Request& request, const Retries& retries);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A status >= 400 as a Status with a fitting code: 401 and 403 Auth, 404 NotFound, 409 and 412 Conflict,
// 429 and 5xx Retry, 507 Quota, others Invalid. `what` is put in front; the body's first line is added.
Status http_status(const Response& response, std::string_view what);

// The URL without user, password, query and fragment.
std::string printable_url(std::string_view url);

// RFC 3986: everything but unreserved characters becomes %XX; '/' stays when keep_slash.
std::string percent_encode(std::string_view text, bool keep_slash = false);
Result<std::string> percent_decode(std::string_view text);

struct Url {
  std::string scheme, user, password, host, port, path, query;  // as written; host without brackets
};
// Invalid when it is not an absolute URL.
Result<Url> parse_url(const std::string& url);

}  // namespace radl::transfer
