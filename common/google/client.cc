#include "common/google/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "common/digest.h"
#include "common/http/json_call.h"
#include "common/http/url.h"
#include "common/json_values.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::member;
using json::parse_json;
using json::text_of;

constexpr const char* kPage = "500";  // the most that a list gives at once
constexpr const char* kQuotas = "https://console.cloud.google.com/iam-admin/quotas";
constexpr size_t kMostPages = 10'000;

bool is_rate(const std::string& reason) {
  return reason == "rateLimitExceeded" || reason == "userRateLimitExceeded" ||
         reason == "RATE_LIMIT_EXCEEDED";
}

// A rate is refused with 403 as well, as what is not allowed is; the reason tells them apart.
bool is_throttled(const http::Response& answer) {
  if (answer.status == 429) return true;
  return answer.status == 403 && is_rate(error_in(parse_json(answer.body)).reason);
}

Failure refusal(const http::Response& response, const std::string& what) {
  const Said said = error_in(parse_json(response.body));
  Failure failure;
  failure.http_status = response.status;
  failure.reason = said.reason;
  failure.kind = http::kind_of_status(response.status, is_throttled(response));
  Code code = code_of(said.reason, response.status);
  // What is not there in Google's own words; another page is a gateway's, or that of a wrong address.
  if (code == Code::NotFound && said.message.empty()) code = Code::Invalid;
  failure.status = Status(code, fmt::format("{}: HTTP status {}{}", what, response.status,
                                            said.message.empty() ? "" : ": " + said.message))
                       .with_hint(cure_of(said, code));
  return failure;
}

// {"warning": {"code": "UNREACHABLE", ..}}: a page without what lies there would mean that it is gone.
Status unreachable_in(const Json& scope, const std::string& where) {
  const std::string code = text_of(member(scope, "warning"), "code");
  if (code != "UNREACHABLE") return {};
  return Status(Code::Retry, fmt::format("{}: {}", where, text_of(member(scope, "warning"), "message")));
}

// "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 1.0 in region us-central1."; an operation tells more: its
// {"quotaInfo": {"metricName", "limitName", "dimensions": {"region": "us-central1"}}}.
std::string quota_in(const Json& error, const std::string& message) {
  const size_t from = message.find("Quota '"), name = from + 7, end = message.find('\'', name);
  if (from == message.npos || end == message.npos) return "";
  std::string quota = message.substr(name, end - name), of;
  for (const Json& detail : list_of(error, "errorDetails"))
    for (const auto& [dimension, value] : member(member(detail, "quotaInfo"), "dimensions").items())
      if (value.is_string()) of += (of.empty() ? "" : ", ") + dimension + " " + value.get<std::string>();
  return of.empty() ? quota : fmt::format("{} ({})", quota, of);
}

}  // namespace

std::string request_id() {
  std::string hex = to_hex(random_bytes(16));
  hex[12] = '4';
  hex[16] = "89ab"[hex[16] % 4];
  for (size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

Code code_of(const std::string& reason, int http_status) {
  if (is_rate(reason)) return Code::Retry;
  constexpr std::array kQuota = {"quotaExceeded",  "QUOTA_EXCEEDED",          "limitExceeded",
                                 "LIMIT_EXCEEDED", "RESOURCE_POOL_EXHAUSTED", "resourcePoolExhausted"};
  const bool no_room = reason.find("RESOURCE_POOL_EXHAUSTED") != reason.npos || reason == "STOCKOUT";
  if (no_room || std::find(kQuota.begin(), kQuota.end(), reason) != kQuota.end()) return Code::Quota;
  constexpr std::array kLater = {"resourceInUseByAnotherResource",
                                 "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE",
                                 "resourceNotReady",
                                 "RESOURCE_NOT_READY",
                                 "conditionNotMet",
                                 "CONDITION_NOT_MET",
                                 "RESOURCE_OPERATION_RATE_EXCEEDED",
                                 "resourceOperationInProgress",
                                 "OPERATION_IN_PROGRESS"};
  if (std::find(kLater.begin(), kLater.end(), reason) != kLater.end()) return Code::Retry;
  if (reason == "alreadyExists" || reason == "RESOURCE_ALREADY_EXISTS") return Code::Exists;
  if (reason == "RESOURCE_NOT_FOUND") return Code::NotFound;
  // What is there already is refused by its status alone, too.
  return http_status == 409 ? Code::Exists : http::code_of_status(http_status);
}

Said error_in(const Json& document) {
  const Json& error = member(document, "error");
  Said said;
  for (const Json& one : list_of(error, "errors")) {
    said.reason = text_of(one, "reason");
    if (said.reason.empty()) said.reason = text_of(one, "code");
    said.message = http::one_line(text_of(one, "message"));
    said.quota = quota_in(one, said.message);
    break;
  }
  if (std::string message = http::one_line(text_of(error, "message")); !message.empty())
    said.message = message;
  if (said.message.empty() && error.is_object()) said.message = said.reason;
  return said;
}

std::string cure_of(const Said& said, Code code) {
  if (code == Code::Quota && said.quota.empty())
    return "another availability_zone or instance_type; or later";
  if (code == Code::Quota) return fmt::format("ask for more of {}: {}", said.quota, kQuotas);
  if (code != Code::Auth) return "";
  if (said.reason == "accessNotConfigured") return "`gcloud services enable compute.googleapis.com`";
  return "the account's roles do not allow it: docs/providers/gce.md, \"Permissions\", has those that are "
         "needed";
}

Answer Service::call(const Call& call, const http::Waits& waits) {
  const bool changes = call.method != "GET";
  http::JsonCall sent;
  sent.what = fmt::format("Compute Engine {} {}", call.method, call.path);
  std::string url = url_ + call.path;
  if (!call.query.empty()) url += "?" + http::query_string(call.query);
  sent.request = http::json_request(call.method, url, call.body);
  sent.request.rate = session_.rate();
  sent.request.throttled = is_throttled;
  sent.retries = http::json_retries();
  std::shared_ptr<const Token> token;
  sent.token = [&]() -> Result<std::pair<std::string, std::string>> {
    auto made = session_.token(waits.stop);
    if (!made.ok()) return made.status();
    token = *made;
    return std::pair<std::string, std::string>("Authorization", "Bearer " + token->value);
  };
  sent.refused = [&] { session_.refused(token); };
  sent.refusal = [&](const http::Response& response) { return refusal(response, sent.what); };
  sent.may_have_arrived = changes;
  sent.cut = changes ? Code::Lost : Code::Retry;
  return http::call_json(session_.http(), sent, waits);
}

Status Service::each(const std::string& path, const std::string& key, Parameters query,
                     const http::Waits& waits, const std::function<void(const Json&)>& take) {
  query.emplace_back("maxResults", kPage);
  const size_t without_page = query.size();
  const std::string where = "Compute Engine GET " + path;
  std::set<std::string> pages;
  for (size_t page = 0; page < kMostPages; ++page) {
    Answer answer = call({.method = "GET", .path = path, .query = query, .body = nullptr}, waits);
    if (!answer.ok()) return answer.failure().status;
    if (key.empty()) {
      for (const Json& item : list_of(answer.json(), "items")) take(item);
      if (Status there = unreachable_in(answer.json(), where); !there.ok()) return there;
    } else if (const Json& scopes = member(answer.json(), "items"); scopes.is_object()) {
      for (const auto& [scope, held] : scopes.items()) {
        if (Status there = unreachable_in(held, where + ", " + scope); !there.ok()) return there;
        for (const Json& item : list_of(held, key)) take(item);
      }
    }
    const std::string next = text_of(answer.json(), "nextPageToken");
    if (next.empty()) return {};
    if (!pages.insert(next).second) return Status(Code::Corrupt, where + ": its pages go round in a circle");
    query.resize(without_page);
    query.emplace_back("pageToken", next);
  }
  return Status(Code::Corrupt, where + ": too many pages");
}

}  // namespace radl::google
