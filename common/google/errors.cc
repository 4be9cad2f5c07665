#include "common/google/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/http/answer.h"
#include "common/http/http.h"
#include "common/json_values.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::member;
using json::text_of;

constexpr const char* kQuotas = "https://console.cloud.google.com/iam-admin/quotas";

bool says(const Said& said, std::string_view words) { return said.message.find(words) != std::string::npos; }

// Machine types, accelerators and kinds of disks are not in every zone of a region.
bool is_not_in_zone(const Said& said) {
  if (says(said, "Machine type with name") && says(said, "does not exist in zone")) return true;
  const bool kind =
      says(said, "/acceleratorTypes/") || says(said, "/machineTypes/") || says(said, "/diskTypes/");
  return kind && says(said, "was not found");
}

// "Constraint constraints/compute.vmExternalIpAccess violated for project 42."
bool is_policy(const Said& said) { return says(said, "onstraint constraints/") && says(said, "violated"); }

bool is_rate(const std::string& reason) {
  return reason == "rateLimitExceeded" || reason == "userRateLimitExceeded" ||
         reason == "RATE_LIMIT_EXCEEDED";
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

Code code_of(const Said& said, int http_status) {
  const std::string& reason = said.reason;
  if (is_rate(reason)) return Code::Retry;
  if (is_not_in_zone(said)) return Code::Quota;
  if (is_policy(said)) return Code::Invalid;
  constexpr std::array kQuota = {"quotaExceeded",  "QUOTA_EXCEEDED",          "limitExceeded",
                                 "LIMIT_EXCEEDED", "RESOURCE_POOL_EXHAUSTED", "resourcePoolExhausted"};
  const bool no_room = reason.find("RESOURCE_POOL_EXHAUSTED") != reason.npos || reason == "STOCKOUT" ||
                       says(said, "does not have enough resources available to fulfill");
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
  // An existing resource is recognised by its status alone, too.
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
  // The newer form: {"status": "PERMISSION_DENIED", "details": [{"@type": "..ErrorInfo", "reason": ".."}]}.
  for (const Json& detail : list_of(error, "details"))
    if (said.reason.empty()) said.reason = text_of(detail, "reason");
  if (said.message.empty() && error.is_object()) said.message = said.reason;
  return said;
}

std::string cure_of(const Said& said, Code code) {
  if (is_policy(said))
    return "A policy of the organization forbids it. Ask the organization's administrator.";
  if (code == Code::NotFound && says(said, "/global/networks/"))
    return "Run `gcloud compute networks list` to see the networks.";
  if (code == Code::NotFound && says(said, "/global/images/"))
    return "Run `gcloud compute images list` to see the images.";
  if (code == Code::Quota && said.quota.empty())
    return "Use another availability_zone or instance_type, or try again later.";
  if (code == Code::Quota) return fmt::format("Request an increase of {}: {}", said.quota, kQuotas);
  if (code != Code::Auth) return "";
  if (says(said, "billing"))
    return "The project needs a billing account. Run `gcloud billing projects link PROJECT --billing-account "
           "ACCOUNT`.";
  if (says(said, "has been suspended"))
    return "Google has suspended the project. Appeal at https://console.cloud.google.com/appeals, or ask the "
           "owner of the billing account.";
  if (said.reason == "accessNotConfigured" || said.reason == "SERVICE_DISABLED")
    return "Run `gcloud services enable compute.googleapis.com`.";
  return "Grant the account the roles from docs/providers/gce.md, \"Permissions\".";
}

}  // namespace radl::google
