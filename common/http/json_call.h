// One call of a service that speaks JSON and asks for a token: what the clients of all clouds have in common.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/http/answer.h"
#include "common/http/http.h"
#include "common/http/waits.h"

namespace radl::http {

struct JsonCall {
  std::string what;  // of messages: "Azure GET subscriptions/S"
  Request request;   // without its token
  Retries retries;
  // The header with a token that is good now. Its error is the call's: nothing was sent.
  std::function<Result<std::pair<std::string, std::string>>()> token;
  // The service has refused that token (401): the next one is another.
  std::function<void()> refused;
  // For an answer with status 400 or higher.
  std::function<Failure(const Response&)> refusal;
  // Whether an attempt without an answer may be the one that acted (no_answer()).
  bool may_have_arrived = false;
  // Whether it may be sent again when a good answer came apart on its way.
  bool again = true;
  // What it is when that does not help, or when it is redirected.
  Code cut = Code::Retry;
};

// A request with a document (null: none), as such services take it: no redirection is followed, a minute
// without progress ends it. It counts as idempotent: that it is may be seen by who sends it alone.
Request json_request(const std::string& method, const std::string& url, const nlohmann::json& document);
// Five attempts, at most 15 s apart.
Retries json_retries();

// Seconds that an answer asks to wait (Retry-After); 0: it does not say.
double retry_after_of(const Response& response);

// The document of a good answer; null where its body is empty, and of a GET that is answered with 202 and no
// JSON: it is under way. `last`: gets the answer itself, where there was any.
// Where the service has too much to do and says when to come again, it is waited for as long as that, for two
// minutes at most and within the stop, and whoever listens hears of it; longer waits are the caller's
// (Failure::retry_after).
Answer call_json(Client& http, const JsonCall& call, const Waits& waits, Response* last = nullptr);

}  // namespace radl::http
