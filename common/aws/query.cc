#include "common/aws/query.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "common/aws/sigv4.h"
#include "common/digest.h"
#include "common/http/answer.h"
#include "common/http/retry.h"
#include "common/shorten.h"
#include "common/text.h"

namespace radl::aws {
namespace {

// The name of an element without its namespace prefix.
std::string_view local_name(const pugi::xml_node& node) {
  std::string_view name = node.name();
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

pugi::xml_node child(const pugi::xml_node& parent, std::string_view name) {
  for (pugi::xml_node node : parent.children()) {
    if (local_name(node) == name) return node;
  }
  return {};
}

// At most one line of what a server wrote, without what only AWS can read in it.
std::string one_line(std::string_view text) {
  return http::one_line(text.substr(0, text.find(" Encoded authorization failure message")));
}

template <size_t N>
bool among(const std::string& code, const std::array<std::string_view, N>& codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

constexpr std::array<std::string_view, 6> kSkewCodes = {"RequestTimeTooSkewed",      "RequestExpired",
                                                        "SignatureDoesNotMatch",     "AuthFailure",
                                                        "InvalidSignatureException", "RequestInTheFuture"};
constexpr std::array<std::string_view, 3> kExpiredCodes = {"ExpiredToken", "ExpiredTokenException",
                                                           "TokenRefreshRequired"};

// Seconds by which the server's clock is ahead of the local one, from its Date header.
std::optional<long long> clock_ahead(const http::Response& response) {
  const std::string date(response.header("date"));
  if (date.empty()) return std::nullopt;
  const std::time_t server = ::curl_getdate(date.c_str(), nullptr);
  if (server <= 0) return std::nullopt;
  return static_cast<long long>(server) - static_cast<long long>(std::time(nullptr));
}

std::string form(const std::string& action, const std::string& version, const Parameters& parameters) {
  std::string body = "Action=" + http::percent_encode(action) + "&Version=" + http::percent_encode(version);
  for (const auto& [name, value] : parameters)
    body += "&" + http::percent_encode(name) + "=" + http::percent_encode(value);
  return body;
}

}  // namespace

bool is_throttling(const std::string& code) {
  // EC2: RequestLimitExceeded; the others as the AWS SDKs take them for throttling.
  static constexpr std::array<std::string_view, 14> kCodes = {"RequestLimitExceeded",
                                                              "Throttling",
                                                              "ThrottlingException",
                                                              "ThrottledException",
                                                              "RequestThrottled",
                                                              "RequestThrottledException",
                                                              "TooManyRequestsException",
                                                              "TooManyRequests",
                                                              "PriorRequestNotComplete",
                                                              "ProvisionedThroughputExceededException",
                                                              "BandwidthLimitExceeded",
                                                              "LimitExceededException",
                                                              "SlowDown",
                                                              "EC2ThrottledException"};
  return among(code, kCodes);
}

Code code_of_error(const std::string& code, int http_status) {
  static constexpr std::array<std::string_view, 14> kAuth = {"AuthFailure",
                                                             "UnauthorizedOperation",
                                                             "AccessDenied",
                                                             "AccessDeniedException",
                                                             "InvalidClientTokenId",
                                                             "SignatureDoesNotMatch",
                                                             "MissingAuthenticationToken",
                                                             "OptInRequired",
                                                             "Blocked",
                                                             "PendingVerification",
                                                             "ExpiredToken",
                                                             "ExpiredTokenException",
                                                             "IncompleteSignature",
                                                             "InvalidIdentityToken"};
  static constexpr std::array<std::string_view, 3> kPassing = {"InternalError", "ServiceUnavailable",
                                                               "Unavailable"};
  if (is_throttling(code) || among(code, kPassing)) return Code::Retry;
  if (among(code, kAuth) || among(code, kSkewCodes)) return Code::Auth;
  if (code.starts_with("Insufficient") || code.ends_with("LimitExceeded") || code == "Unsupported" ||
      code == "UnfulfillableCapacity" || code == "MaxSpotInstanceCountExceeded" ||
      code == "MaxIOPSLimitExceeded" || code == "SpotMaxPriceTooLow")
    return Code::Quota;
  if (code.ends_with(".NotFound") || code.ends_with("NotFoundException") || code == "NoSuchEntity")
    return Code::NotFound;
  if (code.ends_with(".Duplicate") || code == "EntityAlreadyExists") return Code::Exists;
  if (code == "DependencyViolation" || code == "IncorrectState" || code == "IncorrectInstanceState" ||
      code.ends_with(".InUse") || code == "ResourceInUse" || code == "IdempotentParameterMismatch" ||
      code == "DeleteConflict")
    return Code::Conflict;
  if (http_status == 401 || http_status == 403) return Code::Auth;
  return http_status == 429 || http_status >= 500 ? Code::Retry : Code::Invalid;
}

ErrorText parse_error(std::string_view xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) return {};
  const pugi::xml_node root = document.document_element();
  pugi::xml_node errors = child(root, "Errors"), error = child(errors ? errors : root, "Error");
  if (!error && local_name(root) == "Error") error = root;
  if (!error) return {};
  ErrorText found{
      one_line(child(error, "Code").text().get()), one_line(child(error, "Message").text().get()), {}};
  for (const char* name : {"RequestID", "RequestId"}) {
    for (const pugi::xml_node& where : {root, error}) {
      if (found.request_id.empty()) found.request_id = one_line(child(where, name).text().get());
    }
  }
  return found;
}

std::string Answer::field(const char* name) const {
  if (pugi::xml_node found = child(root(), name)) return found.text().get();
  for (pugi::xml_node node : root().children()) {
    if (!local_name(node).ends_with("Result")) continue;
    if (pugi::xml_node found = child(node, name)) return found.text().get();
  }
  return {};
}

// One request as it went.
struct QueryClient::Attempt {
  Result<http::Response> response = internal_error("not sent");
  Credentials credentials;
  bool unsigned_ = false;  // there were no credentials to be had: `response` says why
  long long clock_offset = 0;
};

QueryClient::QueryClient(http::Client& http, std::shared_ptr<CredentialSource> credentials,
                         QueryService service)
    : http_(http), credentials_(std::move(credentials)), service_([&] {
        if (!service.rate) service.rate = std::make_shared<http::Rate>();
        return std::move(service);
      }()) {
  auto url = http::parse_url(service_.endpoint);
  if (!url.ok()) {
    bad_endpoint_ = url.status();
    return;
  }
  host_ = url->authority();
  // The signature encodes it itself.
  const auto path = http::percent_decode(url->path);
  if (!path.ok()) bad_endpoint_ = path.status();
  path_ = !path.ok() || path->empty() ? "/" : *path;
}

// Retries requests that need no change. call() corrects the clock and the keys.
QueryClient::Attempt QueryClient::attempt(const std::string& action, const std::string& body,
                                          const CallOptions& options) {
  Attempt made;
  made.clock_offset = clock_offset_.load();
  http::Request request;
  request.method = "POST";
  request.url = service_.endpoint;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  request.body = body;
  request.idempotent = options.effect != Effect::Once;
  request.follow_redirects = false;
  request.connect_seconds = service_.connect_seconds;
  request.stall_seconds = service_.stall_seconds;
  request.ca_file = service_.ca_file;
  request.user_agent = "radlc (" + service_.name + "; " + action + ")";
  request.rate = service_.rate;
  request.stop = options.stop;
  request.throttled = [](const http::Response& r) {
    return r.status == 429 || (r.status >= 400 && is_throttling(parse_error(r.body).code));
  };
  if (credentials_) {
    request.signing = [&]() -> Result<http::Headers> {
      auto keys = credentials_->get(options.stop);
      made.unsigned_ = !keys.ok();
      if (!keys.ok()) return keys.status();
      made.credentials = *keys;
      if (keys->anonymous()) return http::Headers{};
      ToSign to_sign{.method = "POST", .host = host_, .path = path_, .headers = request.headers};
      to_sign.body_sha256 = sha256_hex(body);
      to_sign.send_body_hash = false;
      return sign_v4(to_sign, *keys,
                     {service_.region, service_.name, std::time(nullptr) + std::time_t(made.clock_offset)});
    };
  }
  http::Retries retries;
  retries.attempts = service_.attempts;
  retries.first_seconds = service_.first_wait_seconds;
  retries.largest_seconds = 20;
  if (options.may_be_unknown) {
    retries.final = [](const http::Response& answer) {
      return (answer.status == 500 || answer.status == 501) && parse_error(answer.body).code.empty();
    };
  }
  made.response = http_.send(request, retries);
  return made;
}

namespace {

// No answer at all.
Failure no_answer(Status status, bool credentials_failed, Effect effect) {
  Failure failure;
  failure.kind = Failure::Kind::NotSent;
  // For a repeatable call it does not matter whether the last attempt arrived; it may have.
  const bool repeatable_lost =
      effect == Effect::Repeatable && !credentials_failed &&
      (status.code() == Code::Retry || status.code() == Code::Timeout || status.code() == Code::Cancelled);
  if (status.code() == Code::Lost || repeatable_lost) failure.kind = Failure::Kind::Unknown;
  failure.status = std::move(status);
  return failure;
}

// AWS names a reason in each of its refusals.
constexpr const char* kNotAws = " (the response is not XML from AWS; a proxy may have answered)";

Failure refusal(const http::Response& response, const std::string& what, Effect effect) {
  const ErrorText error = parse_error(response.body);
  Failure failure;
  failure.http_status = response.status;
  failure.reason = error.code;
  failure.request_id = error.request_id;
  const bool known = !error.code.empty();
  if (known && is_throttling(error.code)) {
    failure.kind = Failure::Kind::Throttled;
  } else if (response.status == 429) {
    failure.kind = Failure::Kind::Throttled;
  } else if (response.status >= 400 && response.status < 500 && known) {
    failure.kind = Failure::Kind::Refused;
  } else if (response.status >= 400 && response.status < 500 && response.status != 408) {
    failure.kind = Failure::Kind::Refused;  // a proxy's or gateway's own: 403, 404, 413
  } else if (known && (error.code.starts_with("Insufficient") || error.code == "UnfulfillableCapacity" ||
                       error.code.ends_with("LimitExceeded"))) {
    failure.kind = Failure::Kind::Refused;  // said with status 500 or 503, and nothing was made
  } else {
    failure.kind = Failure::Kind::Unknown;
  }
  if (!known) {
    const Status said = http::status_of(response, what);
    failure.status = {said.code(), said.message() + (response.status < 500 ? kNotAws : "")};
  } else {
    failure.status = {code_of_error(error.code, response.status),
                      what + ": " + error.code + (error.message.empty() ? "" : ": " + error.message)};
  }
  if (failure.kind == Failure::Kind::Unknown && effect == Effect::Once)
    failure.status = Status(Code::Lost, failure.status.message());
  return failure;
}

// Whether each account has it. Source: AWS Account Management guide, "Enable or disable AWS Regions".
bool is_enabled_by_default(const std::string& region) {
  static constexpr std::array<std::string_view, 17> kRegions = {
      "us-east-1",      "us-east-2",      "us-west-1",  "us-west-2",      "ca-central-1",  "sa-east-1",
      "eu-central-1",   "eu-north-1",     "eu-west-1",  "eu-west-2",      "eu-west-3",     "ap-northeast-1",
      "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2"};
  return among(region, kRegions);
}

std::string hint_of(const std::string& code, const std::string& region) {
  if (code == "UnauthorizedOperation" || code == "AccessDenied")
    return "Run `radlc check-auth` to list the permissions that this identity lacks.";
  const bool keys = code == "AuthFailure" || code == "InvalidClientTokenId";
  if (keys && region.starts_with("cn-"))
    return "The access key or its secret is wrong. Regions in China need keys of an account there.";
  if (keys && !is_enabled_by_default(region) && !region.starts_with("us-gov-"))
    return "Enable region " + region +
           " for the account first (`aws account enable-region "
           "--region-name " +
           region + "`), or correct the access key or its secret.";
  if (keys || code == "SignatureDoesNotMatch")
    return "The access key or its secret is wrong, or the key was deactivated.";
  if (code == "OptInRequired") return "Enable this service or region for the account first.";
  if (code == "RequestExpired" || among(code, kExpiredCodes))
    return "Get new keys (for SSO: `aws sso login`).";
  return {};
}

// A 2xx is an answer only with a whole document of the right name.
Answer answer_of(http::Response response, const std::string& action, const std::string& what, Effect effect) {
  auto unclear = [&](const std::string& why) {
    Failure failure;
    failure.http_status = response.status;
    failure.status = {effect == Effect::Once ? Code::Lost : Code::Corrupt, what + ": " + why};
    return failure;
  };
  if (response.status >= 300) {
    const std::string to = http::printable_url(response.header("location"));
    Failure failure = unclear("the server redirects " + (to.empty() ? "elsewhere" : "to " + to) +
                              " (HTTP status " + std::to_string(response.status) + ")");
    failure.status =
        Status(failure.status)
            .with_hint("Set the endpoint to a URL that does not redirect, with scheme and region.");
    return failure;
  }
  auto document = std::make_unique<pugi::xml_document>();
  const auto parsed = document->load_buffer(response.body.data(), response.body.size());
  if (!parsed) return unclear("the response is truncated or not XML");
  const std::string_view root = local_name(document->document_element());
  if (root == "Response" || root == "ErrorResponse") return refusal(response, what, effect);
  if (root != action + "Response")
    return unclear("the response is a <" + shorten(one_line(root), 60) + ">, not a <" + action + "Response>");
  return Answer(std::move(document));
}

}  // namespace

Answer QueryClient::call(const std::string& action, const Parameters& parameters, const CallOptions& given) {
  const std::string what = service_.name + " " + action + " (" + http::printable_url(service_.endpoint) + ")";
  if (!bad_endpoint_.ok()) return no_answer(Status(bad_endpoint_).at(what), true, given.effect);
  CallOptions options = given;
  if (given.deadline_seconds > 0)
    options.stop = given.stop.within(std::chrono::milliseconds(int64_t(given.deadline_seconds * 1000)));
  const std::string body = form(action, service_.version, parameters);
  bool clock_set = false, keys_renewed = false;
  int unclear_answers = 0;
  for (;;) {
    Attempt made = attempt(action, body, options);
    if (!made.response.ok())
      return no_answer(Status(made.response.status()).at(service_.name + " " + action), made.unsigned_,
                       options.effect);
    http::Response& response = *made.response;
    if (response.status < 400) {
      Answer answer = answer_of(std::move(response), action, what, options.effect);
      const bool unclear =
          !answer.ok() && answer.failure().reason.empty() && answer.failure().http_status < 300;
      // A body that came apart on its way: where asking again does no harm, ask again.
      if (!unclear || options.effect == Effect::Once || ++unclear_answers >= service_.attempts ||
          !options.stop.sleep(std::chrono::milliseconds(100 * unclear_answers)))
        return answer;
      continue;
    }
    Failure failure = refusal(response, what, options.effect);
    // Whatever it was meant to say: where asking again does no harm, ask again.
    if (response.status == 400 && failure.reason.empty() && options.effect != Effect::Once &&
        ++unclear_answers < service_.attempts &&
        options.stop.sleep(std::chrono::milliseconds(100 * unclear_answers)))
      continue;
    const bool refused = failure.kind == Failure::Kind::Refused;
    if (refused && !clock_set && among(failure.reason, kSkewCodes)) {
      const auto ahead = clock_ahead(response);
      // A signature is good for five minutes, either way.
      if (ahead && std::llabs(*ahead - made.clock_offset) > 240) {
        clock_set = true;
        clock_offset_ = *ahead;
        if (service_.note)
          service_.note("this computer's clock is " + std::to_string(std::llabs(*ahead)) + " s " +
                        (*ahead > 0 ? "behind" : "ahead of") + " that of " +
                        http::printable_url(service_.endpoint) +
                        ": requests are signed with the server's time");
        continue;
      }
    }
    if (refused && !keys_renewed && credentials_ && among(failure.reason, kExpiredCodes)) {
      keys_renewed = true;
      credentials_->refused(made.credentials);
      if (service_.note)
        service_.note("the credentials (" + made.credentials.origin + ") have expired; requesting new ones");
      continue;
    }
    if (std::string hint = hint_of(failure.reason, service_.region); !hint.empty())
      failure.status = Status(failure.status).with_hint(hint);
    return failure;
  }
}

}  // namespace radl::aws
