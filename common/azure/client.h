// Calls of Azure's Resource Manager: JSON over HTTP with a token that is renewed, the operations that answer
// what takes long, and what came of a call that may have acted.
// Source: Microsoft Azure REST API Guidelines; Resource Manager API contract, "Asynchronous operations";
// "Throttling Resource Manager requests".
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/azure/errors.h"
#include "common/azure/session.h"
#include "common/http/answer.h"
#include "common/http/waits.h"

namespace radl::azure {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // of a query
using http::Answer;
using http::Failure;

struct Call {
  std::string method = "GET";
  std::string path;     // after the Resource Manager's address: "subscriptions/S/resourceGroups/G"
  std::string version;  // "2024-05-01": the query's api-version
  Parameters query;
  nlohmann::json body;                                       // null: none
  std::vector<std::pair<std::string, std::string>> headers;  // If-Match, If-None-Match
};

// For the answer to a request that changes something.
struct Accepted {
  nlohmann::json document;  // null where the body was empty
  // A URL that tells how far it is (Azure-AsyncOperation, else Location); "": it is done.
  std::string operation;
  double retry_after = 0;  // seconds; 0: the server did not say
};

// The state of an operation.
struct Progress {
  bool done = false;
  Status failed;  // of what is done: why it failed, with its cure
  double retry_after = 0;
};

// Thread-safe. Every call may be sent more than once: PUT, DELETE and the actions that radlc uses do nothing
// more the second time.
class Manager {
 public:
  explicit Manager(Session& session) : session_(session) {}

  // A failure's status: as code_of() says, Retry, Timeout, Cancelled, Corrupt. `accepted`: more of a good
  // answer.
  Answer call(const Call& call, const http::Waits& waits, Accepted* accepted = nullptr);
  // Every element of a list ("value"), page after page by its nextLink.
  Status each(const Call& call, const http::Waits& waits,
              const std::function<void(const nlohmann::json& item)>& take);
  // Retry, Timeout, ..: it could not be asked. NotFound: nobody knows of it any more.
  Result<Progress> progress(const std::string& operation, const http::Waits& waits);
  // Requests that may still be made in the present hour or minute, as the last answer said; -1: it did not.
  double remaining() const { return remaining_; }

  Session& session() const { return session_; }

 private:
  Answer send(const Call& call, const std::string& url, const http::Waits& waits, http::Response& response);

  Session& session_;
  std::atomic<double> remaining_{-1};
};

}  // namespace radl::azure
