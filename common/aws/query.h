// AWS's Query protocol (EC2, STS, IAM): each call is a signed POST of a form with an XML response. Source:
// Amazon EC2 API Reference, "Query requests" and "Error codes"; IAM API Reference, "Common errors".
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

// Sent in this order: {"InstanceId.1", "i-..."}.
using Parameters = std::vector<std::pair<std::string, std::string>>;

using http::Effect;

struct CallOptions {
  Effect effect = Effect::Once;
  Stop stop;
  double deadline_seconds = 0;  // limits the call with all its attempts; 0: only the stop limits it
  // Do not retry a 500 or 501 without an AWS error code. Servers other than Amazon's answer so to actions
  // that they do not support.
  bool may_be_unknown = false;
};

// A failure's reason is AWS's code ("UnauthorizedOperation"). Its status is Auth (credentials or policies
// refuse), NotFound, Quota, Invalid, Retry, Lost (Unknown, for a call that is Once), Timeout or Cancelled.
// The message holds action, host and AWS's message, but never a key, a token or a parameter's value.
using http::Failure;

// The response document, or the failure.
class Answer {
 public:
  Answer(std::unique_ptr<pugi::xml_document> document) : document_(std::move(document)) {}
  Answer(Failure failure) : failure_(std::move(failure)) {}
  bool ok() const { return document_ != nullptr; }
  explicit operator bool() const { return ok(); }
  // The outermost element, such as <DescribeInstancesResponse>, without namespaces. STS and IAM wrap their
  // data in <ActionResult>; field() looks in both.
  pugi::xml_node root() const { return document_->document_element(); }
  // Text of a direct child of the root or of its <...Result>; "" if missing.
  std::string field(const char* name) const;
  const Failure& failure() const { return failure_; }

 private:
  std::unique_ptr<pugi::xml_document> document_;
  Failure failure_;
};

struct QueryService {
  std::string name;                 // "ec2"; part of the signature
  std::string version;              // API version: "2016-11-15"
  std::string region;               // part of the signature
  std::string endpoint;             // "https://ec2.eu-west-1.amazonaws.com", or a custom server
  std::string ca_file;              // "": the system's certificates
  int attempts = 5;                 // for retryable calls; 1 disables retries
  double first_wait_seconds = 0.5;  // longest wait before the second attempt; doubles with each attempt
  double connect_seconds = 10, stall_seconds = 60;
  std::shared_ptr<http::Rate> rate;              // shared by all clients of the API; null: its own
  std::function<void(const std::string&)> note;  // receives log lines: clock corrected, credentials renewed
};

// Thread-safe.
class QueryClient {
 public:
  // If `credentials` is null, calls are not signed (AssumeRoleWithWebIdentity).
  QueryClient(http::Client& http, std::shared_ptr<CredentialSource> credentials, QueryService service);

  // Calls an action such as "DescribeInstances"; adds Action and Version to the parameters. Corrects a wrong
  // local clock by the server's Date (kept for later calls) and renews expired credentials, each at most once
  // a call. Both are safe, because the server did not execute the refused call.
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

// Maps an AWS error code to the code of Failure::status.
Code code_of_error(const std::string& code, int http_status);
// True for codes that mean "too many requests": RequestLimitExceeded, Throttling, ...
bool is_throttling(const std::string& code);

// The content of an error document; empty fields if missing. Supports both forms: <Response><Errors><Error>
// (EC2) and <ErrorResponse><Error> (STS, IAM).
struct ErrorText {
  std::string code, message, request_id;
};
ErrorText parse_error(std::string_view xml);

}  // namespace radl::aws
