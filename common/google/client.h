// Calls of a REST service of Google's: JSON over HTTP with a token that is renewed, and what came of a call
// that may have acted.
// Source: Compute Engine API reference (v1), "Handling API responses", "API errors", "Request IDs"; Google
// API design guide, errors.
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

using Parameters = std::vector<std::pair<std::string, std::string>>;  // of a query

struct Call {
  std::string method = "GET";
  std::string path;  // after the service's address: "projects/p/zones/z/instances"
  Parameters query;
  nlohmann::json body;  // null: none
};

// A failure's status: as code_of() says, Retry, Timeout, Cancelled, Corrupt.
using http::Answer;
using http::Failure;

// Thread-safe. Every call may be sent more than once: what changes something carries a request's id
// (request_id()), by which the service knows it again.
// Of an aggregated list: what its elements are called in each scope ("instances"), and the region whose
// scopes must all have been asked; "": every one. A plain list has none of both.
struct Scopes {
  std::string key = {}, region = {};
};

class Service {
 public:
  Service(Session& session, std::string url) : session_(session), url_(std::move(url)) {}

  Answer call(const Call& call, const http::Waits& waits);
  // Every element of a list, page after page. Where the service could not ask a zone, that is an error.
  Status each(const std::string& path, const Scopes& scopes, Parameters query, const http::Waits& waits,
              const std::function<void(const nlohmann::json& item)>& take);

  Session& session() const { return session_; }

 private:
  Session& session_;
  const std::string url_;
};

// A UUID that no other request has: for the query's requestId.
std::string request_id();

}  // namespace radl::google
