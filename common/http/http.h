// HTTP and HTTPS over libcurl: what every client of ours (data sources, S3, WebHDFS, clouds) sends through.
//
// Certificates are always checked. Proxies come from the client's http_proxy, https_proxy, all_proxy and
// no_proxy; another set of trusted certificates from Request::ca_file, CURL_CA_BUNDLE or SSL_CERT_FILE.
// Errors name method and URL without its query and password.
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
  // More headers, asked for at each attempt: signatures run out, and credentials may fail to renew. Its error
  // is the request's; nothing was sent then.
  std::function<Result<Headers>()> signing;
  // A POST or PATCH that may be sent more than once without doing more: it carries a token by which the
  // server knows it again, or only asks. GET, HEAD, PUT, DELETE and OPTIONS always may.
  bool idempotent = false;
  std::string body;         // sent as it is
  std::string upload_file;  // instead of body: this file, from upload_offset, upload_length bytes
  uint64_t upload_offset = 0, upload_length = 0;
  double connect_seconds = 10;
  double stall_seconds = 30;     // give up when nothing has moved for so long
  double deadline_seconds = 0;   // for one attempt; 0: none but the stop's
  bool follow_redirects = true;  // never where `signing` is given
  bool direct = false;           // past any proxy: addresses of this machine's own network
  std::string ca_file;           // trusted certificates (PEM); "": the environment's, the system's
  std::string user_agent = "radl";
  size_t largest_answer = size_t{256} << 20;  // of a body kept in memory; more is Quota
  // Gets the body of a 2xx answer piece by piece instead of Response::body; an error stops the transfer.
  std::function<Status(std::string_view piece)> sink;
  uint64_t largest_sunk = 0;  // what the sink takes in all; more is Quota; 0: no bound
  // Called with status and headers of a 2xx answer before its body; an error stops the transfer.
  std::function<Status(const Response& head)> on_headers;
  // Bytes of the body so far and in all (0: not known), for a progress display.
  std::function<void(uint64_t done, uint64_t total)> progress;
  // Whether this answer says that the server has too much to do and did nothing. Status 429 where none is
  // given.
  std::function<bool(const Response& answer)> throttled;
  // Each attempt waits for its turn here, and it hears what was throttled. Shared by all who ask one server.
  std::shared_ptr<Rate> rate;
  Stop stop;  // Cancelled, or Timeout by its deadline
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
  std::function<bool(const Response&)>
      final;  // answers that are not repeated, whatever their status; none: none
};

// The network as one user reaches it: with the proxies and certificates of that user's environment. Callers
// look for credentials there, too. Thread-safe; keeps connections open and reuses them.
class Client {
 public:
  explicit Client(Environment environment);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // One attempt. An answer of any status is a Response. Retry: the server was not reached or the connection
  // broke before anything can have happened (for GET, HEAD, PUT, DELETE: broke at all); Lost: a POST or PATCH
  // that is not `idempotent` was begun to be sent and its answer is unknown, also where that is because of
  // the stop; Timeout; Auth: certificate; Cancelled.
  // A POST or PATCH of the kind that may be Lost is never sent a second time, not by libcurl either when a
  // connection that was kept open dies under it.
  Result<Response> send(const Request& request);

  // Repeats on Retry, Timeout and the statuses 408, 429, 500, 502, 503, 504, and what is `throttled`, with
  // backoff; a POST or PATCH that is not `idempotent` only where the server cannot have acted on it: not
  // reached, or throttled. A Lost is not repeated, and nothing is once the sink has been given bytes.
  Result<Response> send(const Request& request, const Retries& retries);

  const Environment& environment() const { return environment_; }

 private:
  const Environment environment_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A status >= 400 as a Status with a fitting code: 401 and 403 Auth, 404 NotFound, 409 and 412 Conflict,
// 429 and 5xx Retry, 507 Quota, others Invalid. `what` is put in front; the body's first line is added.
Status status_of(const Response& response, std::string_view what);
// What a status says where the service's own words say nothing: Auth, NotFound, Conflict, Quota, Retry,
// Invalid.
Code code_of_status(int http_status);

}  // namespace radl::http
