// Client for Google's REST services: JSON over HTTP with renewed tokens, and failures
// that say whether the call may have taken effect. Source: Compute Engine API reference
// (v1), "Handling API responses", "API errors", "Request IDs"; Google API design guide,
// errors.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/google/session.h"
#include "common/http/answer.h"
#include "common/http/waits.h"

namespace radl::google {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // query parameters

struct Call {
  std::string method = "GET";
  std::string path;  // relative to the service's URL: "projects/p/zones/z/instances"
  Parameters query;
  nlohmann::json body;  // null: none
};

// The code of a failure is that of code_of(), or Retry, Timeout, Cancelled or Corrupt.
using http::Answer;
using http::Failure;

// Thread-safe. Every call may be sent more than once: a call that changes something carries a request ID
// (request_id()), so the service recognizes repeats.
// For an aggregated list: `key` names the elements in each scope ("instances"); `region` is the one whose
// scopes must all have responded ("": all). Both are empty for a plain list.
struct Scopes {
  std::string key = {}, region = {};
};

class Service {
 public:
  Service(Session& session, std::string url) : session_(session), url_(std::move(url)) {}

  Answer call(const Call& call, const http::Waits& waits);
  // Calls `take` for every element of a list, on all pages. Fails if the service could not query a zone.
  Status each(const std::string& path, const Scopes& scopes, Parameters query, const http::Waits& waits,
              const std::function<void(const nlohmann::json& item)>& take);

  Session& session() const { return session_; }

 private:
  Session& session_;
  const std::string url_;
};

// Returns a new UUID for the query's requestId.
std::string request_id();

}  // namespace radl::google
