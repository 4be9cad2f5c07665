// HTTP and HTTPS over libcurl, used by all clients (data sources, S3, WebHDFS, clouds).
//
// Certificates are always verified. Proxies come from the client's http_proxy, https_proxy, all_proxy and
// no_proxy; other trusted certificates from Request::ca_file, CURL_CA_BUNDLE or SSL_CERT_FILE. Errors name
// method and URL without its query and password.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/environment.h"
#include "common/http/url.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

class Rate;
struct Response;

struct Request {
  std::string method = "GET";
  std::string url;
  Headers headers;
  // Computes more headers for each attempt, because signatures expire. If it fails, the request fails with
  // its error and nothing is sent.
  std::function<Result<Headers>()> signing;
  // Set for a POST or PATCH that may be repeated safely: it carries a token by which the server recognizes
  // it, or only reads. GET, HEAD, PUT, DELETE and OPTIONS are always repeatable.
  bool idempotent = false;
  std::string body;         // sent unchanged
  std::string upload_file;  // instead of body: upload_length bytes of this file from upload_offset
  uint64_t upload_offset = 0, upload_length = 0;
  double connect_seconds = 10;
  double stall_seconds = 30;     // give up after this time without progress
  double deadline_seconds = 0;   // for one attempt; 0: only the stop limits it
  bool follow_redirects = true;  // never if `signing` is set
  bool direct = false;           // bypass any proxy: addresses of this machine's own network
  std::string ca_file;           // trusted certificates (PEM); "": those of the environment or the system
  std::string user_agent = "radl";
  size_t largest_answer = size_t{256} << 20;  // limit for a body kept in memory; Quota above it
  // Receives the body of a 2xx response in pieces, instead of Response::body. An error aborts the transfer.
  std::function<Status(std::string_view piece)> sink;
  uint64_t largest_sunk = 0;  // limit for all bytes given to the sink; Quota above it; 0: unlimited
  // Called with status and headers of a 2xx response before its body. An error aborts the transfer.
  std::function<Status(const Response& head)> on_headers;
  // Reports body bytes so far and in total (0: unknown), for a progress display.
  std::function<void(uint64_t done, uint64_t total)> progress;
  // Decides whether this response means that the server is overloaded and did nothing. Default: status
  // 429.
  std::function<bool(const Response& answer)> throttled;
  // Each attempt waits here for its turn and reports throttling to it. Shared by all clients of one server.
  std::shared_ptr<Rate> rate;
  Stop stop;  // Cancelled, or Timeout at its deadline
};

struct Response {
  int status = 0;
  Headers headers;  // names in lower case; of the last response after redirects
  std::string body;
  bool ok() const { return status >= 200 && status < 300; }
  std::string_view header(std::string_view lower_case_name) const;  // "" if missing
};

struct Retries {
  int attempts = 4;             // in all
  double first_seconds = 0.25;  // doubles each time; the wait is a random part of it (retry.h)
  double largest_seconds = 8;
  double longest_retry_after = 60;  // longer Retry-After values end the call
  double deadline_seconds = 0;      // no attempt starts later than this after the first; 0: no limit
  std::function<bool(const Response&)>
      final;  // responses for which it returns true are not retried, whatever their status; may be empty
};

// The network as one user reaches it, with the proxies and certificates of that user's environment. Callers
// also look up credentials there. Thread-safe. Keeps connections open and reuses them.
class Client {
 public:
  explicit Client(Environment environment);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends one attempt. A response of any status is a Response. Errors: Retry (the server was not
  // reached, or the connection broke before the request could take effect; for GET, HEAD, PUT,
  // DELETE: at any time); Lost (a POST or PATCH that is not `idempotent` was partly sent and its
  // outcome is unknown, also because of the stop); Timeout; Auth (certificate); Cancelled. A POST or
  // PATCH that can be Lost is never sent twice, not even by libcurl after a kept-open connection
  // breaks.
  Result<Response> send(const Request& request);

  // Retries on Retry, Timeout, the statuses 408, 429, 500, 502, 503, 504 and `throttled` responses, with
  // backoff. Retries a POST or PATCH that is not `idempotent` only if it was not delivered or was throttled.
  // Never retries a Lost request, or any request after the sink has received bytes.
  Result<Response> send(const Request& request, const Retries& retries);

  const Environment& environment() const { return environment_; }

 private:
  const Environment environment_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Maps a status >= 400 to a code: 401 and 403 Auth, 404 NotFound, 409 and 412 Conflict, 429 and 5xx Retry,
// 507 Quota, others Invalid. The message is `what` followed by the body's first line.
Status status_of(const Response& response, std::string_view what);
// The code for a status if the service's message does not tell: Auth, NotFound, Conflict, Quota, Retry or
// Invalid.
Code code_of_status(int http_status);

}  // namespace radl::http
