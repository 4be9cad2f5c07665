// AWS's Query protocol: EC2, STS, IAM. One call is one POST of a form, signed, answered by XML.
// Source: Amazon EC2 API Reference, "Query requests" and "Error codes"; IAM API Reference, "Common errors".
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/aws/credentials.h"
#include "common/http/answer.h"
#include "common/http/http.h"
#include "common/http/rate.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::aws {

// In the order in which they are sent: {"InstanceId.1", "i-..."}.
using Parameters = std::vector<std::pair<std::string, std::string>>;

using http::Effect;

struct CallOptions {
  Effect effect = Effect::Once;
  Stop stop;
  double deadline_seconds = 0;  // for the call with all its attempts; 0: the stop's alone
  // A 500 or 501 without a code of AWS's is final: servers other than Amazon's fail so at actions that they
  // lack.
  bool may_be_unknown = false;
};

// A failure's reason is AWS's code ("UnauthorizedOperation"), its status Auth for what credentials and
// policies refuse, NotFound, Quota, Invalid, Retry, Lost (Unknown of a call that is Once), Timeout,
// Cancelled: action, host and AWS's message; never a key, token or parameter's value of ours.
using http::Failure;

// The answer's document, or why there is none.
class Answer {
 public:
  Answer(std::unique_ptr<pugi::xml_document> document) : document_(std::move(document)) {}
  Answer(Failure failure) : failure_(std::move(failure)) {}
  bool ok() const { return document_ != nullptr; }
  explicit operator bool() const { return ok(); }
  // The outermost element, <DescribeInstancesResponse>; names without namespace. STS and IAM put what counts
  // into its <ActionResult>: field() finds it in either.
  pugi::xml_node root() const { return document_->document_element(); }
  // The text of a direct child of the root or of its <...Result>; "" when there is none.
  std::string field(const char* name) const;
  const Failure& failure() const { return failure_; }

 private:
  std::unique_ptr<pugi::xml_document> document_;
  Failure failure_;
};

struct QueryService {
  std::string name;                 // "ec2": in the signature
  std::string version;              // of the API: "2016-11-15"
  std::string region;               // in the signature
  std::string endpoint;             // "https://ec2.eu-west-1.amazonaws.com", or a server of the user's own
  std::string ca_file;              // "": the system's
  int attempts = 5;                 // of what may be repeated; 1: none is
  double first_wait_seconds = 0.5;  // before the second attempt at most; doubled for each further one
  double connect_seconds = 10, stall_seconds = 60;
  std::shared_ptr<http::Rate> rate;              // shared with others who ask the same API; none: its own
  std::function<void(const std::string&)> note;  // lines for the log: a clock that is wrong, renewed keys
};

// Thread-safe.
class QueryClient {
 public:
  // `credentials` null: calls are not signed (AssumeRoleWithWebIdentity).
  QueryClient(http::Client& http, std::shared_ptr<CredentialSource> credentials, QueryService service);

  // "DescribeInstances" with its parameters; Action and Version are added.
  // A clock of this computer that is wrong is corrected by the server's Date (kept for later calls), and
  // credentials that the server calls expired are renewed, each once a call: both were refused unexecuted.
  Answer call(const std::string& action, const Parameters& parameters, const CallOptions& options = {});

  const QueryService& service() const { return service_; }

 private:
  struct Attempt;
  Attempt attempt(const std::string& action, const std::string& body, const CallOptions& options);

  http::Client& http_;
  const std::shared_ptr<CredentialSource> credentials_;
  const QueryService service_;
  std::string host_, path_;
  Status bad_endpoint_;
  std::atomic<long long> clock_offset_{0};  // seconds to add to this computer's clock
};

// A status for an error code of AWS, as Failure::status has it.
Code code_of_error(const std::string& code, int http_status);
// Codes that say "too many requests": RequestLimitExceeded, Throttling, ...
bool is_throttling(const std::string& code);

// What an error document says; "" where it does not. Both forms: <Response><Errors><Error> (EC2) and
// <ErrorResponse><Error> (STS, IAM).
struct ErrorText {
  std::string code, message, request_id;
};
ErrorText parse_error(std::string_view xml);

}  // namespace radl::aws
