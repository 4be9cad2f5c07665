// A client of `radlc serve`, for commands with --server: requests of its API (docs/service-api.md), and the
// file that `radlc login` keeps.
#pragma once

#include <functional>
#include <string>

#include "common/http/http.h"
#include "runtime/cli/command.h"
#include "runtime/exec/events.h"
#include "runtime/state/snapshot.h"

namespace radl::cli {

// The token that `radlc login` has kept for this URL (servers_file()). NotFound: none.
Result<std::string> token_for(const Session& session, const std::string& url);
// Keeps it, with mode 0600; an empty token removes it.
Status keep_token(const Session& session, const std::string& url, const std::string& token);
// "https://host[:port]" without a path. Invalid: not a URL, or http to another computer, which would show the
// token to the network.
Result<std::string> server_url(const std::string& text);

// A path for a URL: all but its slashes encoded.
std::string encoded(const std::string& path);

class ServiceClient {
 public:
  ServiceClient(const Session& session, std::string url, std::string token, Stop stop);

  // A request below /api/v1. Errors: those of the service with its code and hint. `again`: a POST that may be
  // sent more than once.
  Result<Json> call(const std::string& method, const std::string& path, const Json& body = nullptr,
                    bool again = false);
  Status upload(const std::string& path, const std::string& file, uint64_t bytes, bool executable);
  // Passes the events of a run on, from number `from` until its end, and returns the run. A broken connection
  // is resumed after the last event. Cancelled: by the stop; the run continues.
  Result<Json> follow(const std::string& run, unsigned long long from,
                      const std::function<void(const Event&)>& take);
  const std::string& url() const { return url_; }

 private:
  http::Request request(const std::string& method, const std::string& path) const;

  http::Client http_;
  const std::string url_;
  const bool here_;  // http: the service is on this computer (server_url())
  const std::string token_;
  const Stop stop_;
};

}  // namespace radl::cli
