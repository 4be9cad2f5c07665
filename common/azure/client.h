// Client for Azure Resource Manager: JSON over HTTP with renewed tokens, long-running operations, and
// failures that say whether the call may have taken effect. Source: Microsoft Azure REST API
// Guidelines; Resource Manager API contract, "Asynchronous operations"; "Throttling Resource Manager
// requests".
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

using Parameters = std::vector<std::pair<std::string, std::string>>;  // query parameters
using http::Answer;
using http::Failure;

struct Call {
  std::string method = "GET";
  std::string path;     // relative to the Resource Manager's URL: "subscriptions/S/resourceGroups/G"
  std::string version;  // "2024-05-01": the query's api-version
  Parameters query;
  nlohmann::json body;                                       // null: none
  std::vector<std::pair<std::string, std::string>> headers;  // If-Match, If-None-Match
};

// The response to a request that changes something.
struct Accepted {
  nlohmann::json document;  // null if the body was empty
  // URL for the operation's progress (Azure-AsyncOperation, else Location); "" if it has completed.
  std::string operation;
  double retry_after = 0;  // seconds; 0 if the server did not say
};

// The state of an operation.
struct Progress {
  bool done = false;
  Status failed;  // if done: why it failed, with the remedy; Ok if it succeeded
  double retry_after = 0;
};

// Thread-safe. Every call may be sent more than once: a repeated PUT, DELETE or action that radlc uses has no
// further effect.
class Manager {
 public:
  explicit Manager(Session& session) : session_(session) {}

  // The code of a failure is that of code_of(), or Retry, Timeout, Cancelled or Corrupt. `accepted` receives
  // further details of a successful response.
  Answer call(const Call& call, const http::Waits& waits, Accepted* accepted = nullptr);
  // Calls `take` for every element of a list ("value"), following nextLink through all pages.
  Status each(const Call& call, const http::Waits& waits,
              const std::function<void(const nlohmann::json& item)>& take);
  // Retry, Timeout, ..: the request failed. NotFound: the operation is no longer known.
  Result<Progress> progress(const std::string& operation, const http::Waits& waits);
  // Remaining requests in the current hour or minute, from the last response; -1 if it did not say.
  double remaining() const { return remaining_; }

  Session& session() const { return session_; }

 private:
  Answer send(const Call& call, const std::string& url, const http::Waits& waits, http::Response& response);

  Session& session_;
  std::atomic<double> remaining_{-1};
};

}  // namespace radl::azure
