// What came of a call of a service, as every cloud's client says it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/status.h"

namespace radl::http {

// What may be done about a call whose answer is lost.
enum class Effect {
  Reads,       // changes nothing: repeated after whatever may pass
  Repeatable,  // the same call again does nothing more (terminate, put, tag): repeated as well
  Once,        // may have acted: repeated only where the service says that it did nothing
};

// Why a call returned no usable answer.
struct Failure {
  enum class Kind {
    NotSent,    // nothing went out: no connection, no token, stopped before
    Refused,    // the service said no: nothing was done
    Throttled,  // too many requests, as long as it was repeated: nothing was done
    Unknown,    // it went out and the answer was lost, cut off, malformed or a 5xx: it may have been done
  };
  Kind kind = Kind::Unknown;
  // The call, its host and the service's message; never a token. Its code is said by each client.
  Status status;
  int http_status = 0;     // 0: no answer
  std::string request_id;  // by which the service's operators find the call; "" when it said none
  std::string
      reason;  // the service's word for it: "quotaExceeded", "UnauthorizedOperation"; "" when it said none
  std::string message;     // the service's own; "" when it said none
  double retry_after = 0;  // seconds that the service asks to wait (Retry-After); 0: it did not say
};

class Answer {
 public:
  Answer(nlohmann::json document) : document_(std::move(document)) {}
  Answer(Failure failure) : failure_(std::move(failure)) {}
  bool ok() const { return !failure_; }
  const nlohmann::json& json() const { return document_; }  // null where the body was empty
  const Failure& failure() const { return *failure_; }

 private:
  nlohmann::json document_;
  std::optional<Failure> failure_;
};

// A message of somebody else's as one line of at most 600 bytes.
std::string one_line(std::string_view text);
// Of a call without an answer. `may_have_arrived`: it was sent more than once, and one of the attempts before
// the last may have been the one that acted.
Failure no_answer(Status status, bool may_have_arrived);
// What a status of 400 and more says about what was done.
Failure::Kind kind_of_status(int http_status, bool throttled);

}  // namespace radl::http
