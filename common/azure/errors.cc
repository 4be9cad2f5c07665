#include "common/azure/errors.h"

#include <fmt/format.h>

#include <string_view>

#include "common/http/answer.h"
#include "common/http/http.h"
#include "common/json_values.h"
#include "common/text.h"

namespace radl::azure {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::member;
using json::text_of;

struct Known {
  std::string_view word;
  Code code;
  std::string_view cure;
};

constexpr std::string_view kNoRoom =
    "Use another availability_zone, instance_type or region, or try again later.";
constexpr std::string_view kAskQuota =
    "Run `az vm list-usage --location REGION` to see the quotas. Request an increase with `az quota "
    "update` or at "
    "https://portal.azure.com/#view/Microsoft_Azure_Capacity/QuotaMenuBlade/~/myQuotas.";
constexpr std::string_view kRole = "Assign the role from docs/providers/azure.md, \"Permissions\".";
constexpr std::string_view kRegister =
    "Run `az provider register --namespace Microsoft.Compute`, and again for Microsoft.Network.";
constexpr std::string_view kTerms =
    "Run `az vm image terms accept --urn PUBLISHER:OFFER:SKU:VERSION` with a subscription that may buy from "
    "the Marketplace.";
constexpr std::string_view kVersion =
    "This Azure environment lacks the resource type or API version. Use another region or environment.";
constexpr std::string_view kLogin = "Run `az login`, or set AZURE_TENANT_ID to the subscription's tenant.";

constexpr Known kKnown[] = {
    {"SkuNotAvailable", Code::Quota, kNoRoom},
    {"AllocationFailed", Code::Quota, kNoRoom},
    {"ZonalAllocationFailed", Code::Quota, kNoRoom},
    {"OverconstrainedAllocationRequest", Code::Quota,
     "The machine has too many constraints (placement group, zone, spot, disks). Remove placement_group, or "
     "use another instance_type."},
    {"OverconstrainedZonalAllocationRequest", Code::Quota,
     "The machine has too many constraints in this zone. Use another availability_zone or instance_type."},
    {"OutOfCapacity", Code::Quota, kNoRoom},
    {"QuotaExceeded", Code::Quota, kAskQuota},
    {"ResourceQuotaExceeded", Code::Quota, kAskQuota},
    {"PublicIPCountLimitReached", Code::Quota, kAskQuota},
    {"AuthorizationFailed", Code::Auth, kRole},
    {"LinkedAuthorizationFailed", Code::Auth, kRole},
    {"InvalidAuthenticationToken", Code::Auth, kLogin},
    {"InvalidAuthenticationTokenTenant", Code::Auth, kLogin},
    {"ExpiredAuthenticationToken", Code::Auth, "Check this computer's clock."},
    {"AuthenticationFailed", Code::Auth, kLogin},
    {"SubscriptionNotFound", Code::Auth,
     "Run `az account list`, and set AZURE_SUBSCRIPTION_ID to one of the IDs."},
    {"InvalidSubscriptionId", Code::Invalid,
     "Set AZURE_SUBSCRIPTION_ID to an ID, not a name; `az account list` shows it."},
    {"ReadOnlyDisabledSubscription", Code::Auth,
     "Enable the subscription again at portal.azure.com, Subscriptions."},
    {"PrincipalNotFound", Code::Retry, "The identity is new. Entra needs some minutes to replicate it."},
    {"MissingSubscriptionRegistration", Code::Invalid, kRegister},
    {"SubscriptionNotRegistered", Code::Invalid, kRegister},
    {"NoRegisteredProviderFound", Code::Invalid,
     "Use a region that supports it; `az account list-locations` lists the regions."},
    {"LocationNotAvailableForResourceType", Code::Invalid, "`az account list-locations` shows the regions"},
    {"LocationNotAvailableForResourceGroup", Code::Invalid, "`az account list-locations` shows the regions"},
    {"RequestDisallowedByPolicy", Code::Invalid,
     "A policy of the subscription forbids it. Ask the subscription's administrator."},
    {"ScopeLocked", Code::Invalid,
     "The resource is locked. Run `az lock list` to find the lock and `az lock delete` to remove it."},
    {"MarketplacePurchaseEligibilityFailed", Code::Invalid, kTerms},
    {"ResourcePurchaseValidationFailed", Code::Invalid, kTerms},
    {"VMMarketplaceInvalidInput", Code::Invalid, kTerms},
    {"InvalidResourceType", Code::Invalid, kVersion},
    {"InvalidResourceNamespace", Code::Invalid, kVersion},
    {"InvalidApiVersionParameter", Code::Invalid, kVersion},
    {"PlatformImageNotFound", Code::NotFound,
     "`az vm image list --all --publisher P --offer O` shows what there is"},
    {"ImageNotFound", Code::NotFound, "`az vm image list --all --publisher P --offer O` shows what there is"},
    {"InvalidParameter", Code::Invalid, ""},
    {"PropertyChangeNotAllowed", Code::Invalid, ""},
    {"ResourceGroupNotFound", Code::NotFound, ""},
    {"ResourceNotFound", Code::NotFound, ""},
    {"ParentResourceNotFound", Code::NotFound, ""},
    {"NotFound", Code::NotFound, ""},
    {"ResourceGroupBeingDeleted", Code::Retry, "An earlier destroy is still deleting the resource group."},
    {"AnotherOperationInProgress", Code::Retry, ""},
    {"OperationPreempted", Code::Retry, ""},
    {"RetryableError", Code::Retry, ""},
    {"RetryableErrorDueToAnotherOperation", Code::Retry, ""},
    {"ReferencedResourceNotProvisioned", Code::Retry, ""},
    {"NicReservedForAnotherVm", Code::Retry,
     "Azure reserves the interface of a failed machine for 180 seconds."},
    {"NicInUse", Code::Retry, ""},
    {"CanceledAndSupersededDueToAnotherOperation", Code::Retry, ""},
    {"TooManyRequests", Code::Retry, ""},
    {"SubscriptionRequestsThrottled", Code::Retry, ""},
    {"ServerTimeout", Code::Retry, ""},
    {"InternalServerError", Code::Retry, ""},
    {"ServerBusy", Code::Retry, ""}};

// What uses it goes first, and that takes a while: "InUseSubnetCannotBeDeleted".
constexpr Known kInUse{"", Code::Retry, ""};
constexpr Known kLimit{"", Code::Quota, kAskQuota};
// "The maximum number of data disks allowed to be attached to a VM of this size is 4."
constexpr Known kDisks{"", Code::Quota, "Use an instance_type that supports more disks, or fewer disks."};
constexpr Known kSize{"", Code::Quota, kNoRoom};
// "The selected VM size '..' cannot boot Hypervisor Generation '2'."
constexpr Known kGeneration{
    "", Code::Invalid,
    "Use another instance_type, or an image of the generation that it boots. Most images have a "
    "SKU with gen2 in its name and one without."};

// "The value Standard_X provided for the VM size is not valid. ..", "The requested VM size Standard_X is not
// available in the current region. ..", both as InvalidParameter: another region or size does.
bool is_size_elsewhere(const std::string& message) {
  if (message.find("provided for the VM size is not valid") != message.npos) return true;
  return message.find("requested VM size") != message.npos && message.find("not available") != message.npos;
}

const Known* find(const Said& said) {
  if (is_size_elsewhere(said.message)) return &kSize;
  for (const Known& one : kKnown)
    if (said.code == one.word) return &one;
  if (said.code.ends_with("CannotBeDeleted")) return &kInUse;
  if (said.code.ends_with("CountLimitReached")) return &kLimit;
  // "Operation could not be completed as it results in exceeding approved Total Regional Cores quota."
  if (said.code == "OperationNotAllowed" && to_lower(said.message).find("quota") != std::string::npos)
    return &kLimit;
  if (said.message.find("maximum number of data disks") != std::string::npos) return &kDisks;
  if (said.message.find("cannot boot Hypervisor Generation") != std::string::npos) return &kGeneration;
  return nullptr;
}

// ".. as it results in exceeding approved standardNCASv3_T4Family Cores quota. ..": "standardNCASv3_T4Family
// Cores".
std::string quota_in(const std::string& message) {
  constexpr std::string_view kApproved = "exceeding approved ";
  const size_t at = message.find(kApproved), name = at + kApproved.size(), end = message.find(" quota", name);
  return at == message.npos || end == message.npos ? "" : message.substr(name, end - name);
}

// ".. not registered to use namespace 'Microsoft.Network'. ..": "Microsoft.Network".
std::string namespace_in(const std::string& message) {
  constexpr std::string_view kNamespace = "namespace '";
  const size_t at = message.find(kNamespace), name = at + kNamespace.size(), end = message.find('\'', name);
  return at == message.npos || end == message.npos ? "" : message.substr(name, end - name);
}

Said one_of(const Json& error) { return {text_of(error, "code"), http::one_line(text_of(error, "message"))}; }

// An error holds others, and they again: {"details": [{..}], "innererror": {..}} (OData's errors). So deep no
// service's go.
constexpr int kDeepest = 8;

// The first error of a known kind; if there is none, the innermost one with a message.
Said most_telling(const Json& error, int depth = 0) {
  Said here = one_of(error), inside;
  if (depth == kDeepest || find(here)) return here;
  auto look = [&](const Json& held) {
    Said more = most_telling(held, depth + 1);
    if (more.message.empty()) more.message = here.message;
    if (find(more) || inside.code.empty()) inside = std::move(more);
    return find(inside) != nullptr;
  };
  for (const Json& detail : list_of(error, "details"))
    if (look(detail)) return inside;
  if (const Json& inner = member(error, "innererror"); inner.is_object() && look(inner)) return inside;
  return inside.code.empty() || inside.message == here.message ? here : inside;
}

}  // namespace

Said error_in(const Json& document) {
  const Json& inner = member(document, "error");
  const Json& error = inner.is_object() ? inner : document;
  const Said said = one_of(error), telling = most_telling(error);
  if (find(telling) || telling.code == said.code || telling.code.empty()) return telling;
  // Unknown codes are reported together with the outer one: "ResourceOperationFailure: it ended as Failed
  // (OSProvisioningTimedOut: the machine did not ..)". The code is that of the whole response.
  return {said.code, fmt::format("{}{}({}: {})", said.message, said.message.empty() ? "" : " ", telling.code,
                                 telling.message)};
}

Code code_of(const Said& said, int http_status) {
  if (const Known* known = find(said)) return known->code;
  // Any other 404 means an unsupported request, and says nothing about the resource.
  if (http_status == 404 && !said.code.empty() && said.code.find("NotFound") == said.code.npos)
    return Code::Invalid;
  return http_status == 412 ? Code::Exists : http::code_of_status(http_status);
}

std::string cure_of(const Said& said, int http_status) {
  const Known* known = find(said);
  const std::string quota = known && known->cure == kAskQuota ? quota_in(said.message) : "";
  if (!quota.empty()) return fmt::format("The quota is '{}'. {}", quota, kAskQuota);
  const std::string service = known && known->cure == kRegister ? namespace_in(said.message) : "";
  if (!service.empty())
    return fmt::format("Run `az provider register --namespace {}` once; it takes some minutes.", service);
  if (known) return std::string(known->cure);
  return http_status == 403 ? std::string(kRole) : "";
}

Status status_of(const Said& said, int http_status) {
  std::string message = said.code;
  if (!said.message.empty()) message += (message.empty() ? "" : ": ") + said.message;
  return Status(code_of(said, http_status), message).with_hint(cure_of(said, http_status));
}

}  // namespace radl::azure
