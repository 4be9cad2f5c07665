// Client for `radlc serve`, for commands with --server: requests of its API (docs/service-api.md), and the
// file with tokens of `radlc login`.
#pragma once

#include <functional>
#include <string>

#include "common/http/http.h"
#include "runtime/cli/command.h"
#include "runtime/exec/events.h"
#include "runtime/state/snapshot.h"

namespace radl::cli {

// The token stored by `radlc login` for this URL (servers_file()). NotFound: none.
Result<std::string> token_for(const Session& session, const std::string& url);
// Stores a token with mode 0600; an empty token deletes the entry.
Status keep_token(const Session& session, const std::string& url, const std::string& token);
// "https://host[:port]" without a path. Invalid: not a URL, or http to another computer, which would reveal
// the token to the network.
Result<std::string> server_url(const std::string& text);

// Encodes a path for a URL, except its slashes.
std::string encoded(const std::string& path);

class ServiceClient {
 public:
  ServiceClient(const Session& session, std::string url, std::string token, Stop stop);

  // Sends a request below /api/v1. Errors are the service's, with code and hint. `again`: a POST that may be
  // repeated.
  Result<Json> call(const std::string& method, const std::string& path, const Json& body = nullptr,
                    bool again = false);
  Status upload(const std::string& path, const std::string& file, uint64_t bytes, bool executable);
  // Passes on the events of a run, from number `from` to its end, and returns the run. After a broken
  // connection, resumes after the last event. Cancelled: by the stop; the run continues.
  Result<Json> follow(const std::string& run, unsigned long long from,
                      const std::function<void(const Event&)>& take);
  const std::string& url() const { return url_; }

 private:
  http::Request request(const std::string& method, const std::string& path) const;

  http::Client http_;
  const std::string url_;
  const bool here_;  // the service is on this computer (server_url())
  const std::string token_;
  const Stop stop_;
};

}  // namespace radl::cli
