// The outcome of a service call, shared by the clients of all clouds.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/status.h"

namespace radl::http {

// Whether a call may be repeated after its response is lost.
enum class Effect {
  Reads,       // changes nothing: retried after any transient failure
  Repeatable,  // a repeat has no further effect (terminate, put, tag): retried as well
  Once,        // may have taken effect: retried only if the service says that it did nothing
};

// The reason for a call without a usable response.
struct Failure {
  enum class Kind {
    NotSent,    // nothing was sent: no connection, no token, or stopped before
    Refused,    // the service refused: nothing was done
    Throttled,  // too many requests, also after retries: nothing was done
    Unknown,    // sent, but the response was lost, truncated, malformed or a 5xx: it may have taken effect
  };
  Kind kind = Kind::Unknown;
  // Names the call, its host and the service's message, never a token. Each client sets the code.
  Status status;
  int http_status = 0;     // 0: no response
  std::string request_id;  // ID of the request for the service's support; "" if none
  std::string
      reason;  // the service's error code, for example "quotaExceeded" or "UnauthorizedOperation"; may be ""
  std::string message;     // the service's own message; "" if none
  double retry_after = 0;  // seconds that the service asks to wait (Retry-After); 0 if not given
};

class Answer {
 public:
  Answer(nlohmann::json document) : document_(std::move(document)) {}
  Answer(Failure failure) : failure_(std::move(failure)) {}
  bool ok() const { return !failure_; }
  const nlohmann::json& json() const { return document_; }  // null if the body was empty
  const Failure& failure() const { return *failure_; }

 private:
  nlohmann::json document_;
  std::optional<Failure> failure_;
};

// A foreign message as one line of at most 600 bytes.
std::string one_line(std::string_view text);
// The failure of a call without a response. `may_have_arrived`: the call was sent more than once, and an
// attempt before the last may have taken effect.
Failure no_answer(Status status, bool may_have_arrived);
// What an HTTP status of 400 or higher implies about whether the call took effect.
Failure::Kind kind_of_status(int http_status, bool throttled);

}  // namespace radl::http
