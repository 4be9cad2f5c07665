// A call to a service that speaks JSON and requires a token. Shared by the clients of all clouds.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/http/answer.h"
#include "common/http/http.h"
#include "common/http/waits.h"

namespace radl::http {

struct JsonCall {
  std::string what;  // for messages: "Azure GET subscriptions/S"
  Request request;   // without its token
  Retries retries;
  // Returns the header with a valid token. If it fails, the call fails with its error and nothing is sent.
  std::function<Result<std::pair<std::string, std::string>>()> token;
  // Reports that the service refused that token (401), so that the next one is new.
  std::function<void()> refused;
  // Builds the failure for a response with status 400 or higher.
  std::function<Failure(const Response&)> refusal;
  // True if an attempt without a response may have taken effect (no_answer()).
  bool may_have_arrived = false;
  // Whether to resend after a successful response was truncated.
  bool again = true;
  // Code of the failure if that does not help, or if the call is redirected.
  Code cut = Code::Retry;
};

// A request with a JSON document (null: none). Follows no redirect; ends after a minute without progress.
// Counts as idempotent; the caller must know that it is.
Request json_request(const std::string& method, const std::string& url, const nlohmann::json& document);
// Five attempts, at most 15 s apart.
Retries json_retries();

// Seconds that a response asks to wait (Retry-After); 0 if not given.
double retry_after_of(const Response& response);

// Returns the document of a successful response: null if the body is empty, and for a GET
// answered with 202 and no JSON (still in progress). `last` receives the response itself, if any.
// If the service is overloaded and says when to retry, waits that long, up to two minutes and
// within the stop, and reports the wait. Longer waits are left to the caller
// (Failure::retry_after).
Answer call_json(Client& http, const JsonCall& call, const Waits& waits, Response* last = nullptr);

}  // namespace radl::http
