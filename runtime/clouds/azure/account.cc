#include "runtime/clouds/azure/account.h"

#include <fmt/format.h>

#include "common/azure/client.h"
#include "common/json_values.h"
#include "common/text.h"

namespace radl {
namespace {

using azure::Credential;
using azure::Manager;
using json::list_of;
using json::member;
using json::number_of;
using json::text_of;

constexpr const char* kSubscriptions = "2022-12-01";
constexpr const char* kUsages = "2024-11-01";
constexpr const char* kPermissions = "2022-04-01";

constexpr const char* kActions[] = {
    "Microsoft.Resources/subscriptions/read",
    "Microsoft.Resources/subscriptions/resourceGroups/read",
    "Microsoft.Resources/subscriptions/resourceGroups/write",
    "Microsoft.Resources/subscriptions/resourceGroups/delete",
    "Microsoft.Resources/subscriptions/resourceGroups/resources/read",
    "Microsoft.Compute/skus/read",
    "Microsoft.Compute/locations/usages/read",
    "Microsoft.Compute/locations/operations/read",
    "Microsoft.Compute/locations/publishers/artifacttypes/vmimage/offers/skus/versions/read",
    "Microsoft.Compute/images/read",
    "Microsoft.Compute/images/write",
    "Microsoft.Compute/images/delete",
    "Microsoft.Compute/galleries/images/read",
    "Microsoft.Compute/galleries/images/versions/read",
    "Microsoft.Compute/snapshots/read",
    "Microsoft.Compute/disks/read",
    "Microsoft.Compute/disks/write",
    "Microsoft.Compute/disks/delete",
    "Microsoft.Compute/proximityPlacementGroups/read",
    "Microsoft.Compute/proximityPlacementGroups/write",
    "Microsoft.Compute/proximityPlacementGroups/delete",
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/write",
    "Microsoft.Compute/virtualMachines/delete",
    "Microsoft.Compute/virtualMachines/start/action",
    "Microsoft.Compute/virtualMachines/deallocate/action",
    "Microsoft.Compute/virtualMachines/retrieveBootDiagnosticsData/action",
    "Microsoft.Network/locations/operations/read",
    "Microsoft.Network/locations/operationResults/read",
    "Microsoft.Network/virtualNetworks/read",
    "Microsoft.Network/virtualNetworks/write",
    "Microsoft.Network/virtualNetworks/delete",
    "Microsoft.Network/virtualNetworks/subnets/join/action",
    "Microsoft.Network/natGateways/read",
    "Microsoft.Network/natGateways/write",
    "Microsoft.Network/natGateways/delete",
    "Microsoft.Network/natGateways/join/action",
    "Microsoft.Network/publicIPAddresses/read",
    "Microsoft.Network/publicIPAddresses/write",
    "Microsoft.Network/publicIPAddresses/delete",
    "Microsoft.Network/publicIPAddresses/join/action",
    "Microsoft.Network/networkSecurityGroups/read",
    "Microsoft.Network/networkSecurityGroups/write",
    "Microsoft.Network/networkSecurityGroups/delete",
    "Microsoft.Network/networkSecurityGroups/join/action",
    "Microsoft.Network/applicationSecurityGroups/read",
    "Microsoft.Network/applicationSecurityGroups/write",
    "Microsoft.Network/applicationSecurityGroups/delete",
    "Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action",
    "Microsoft.Network/applicationSecurityGroups/joinNetworkSecurityRule/action",
    "Microsoft.Network/virtualNetworks/listNetworkManagerEffectiveSecurityAdminRules/action",
    "Microsoft.Network/networkInterfaces/read",
    "Microsoft.Network/networkInterfaces/write",
    "Microsoft.Network/networkInterfaces/delete",
    "Microsoft.Network/networkInterfaces/join/action",
};

std::string kind_of(const Credential& credential) {
  switch (credential.kind) {
    case Credential::Kind::None:
      return "none";
    case Credential::Kind::Secret:
    case Credential::Kind::Certificate:
    case Credential::Kind::Federated:
      return "service principal " + credential.client_id;
    case Credential::Kind::Machine:
    case Credential::Kind::AppService:
    case Credential::Kind::Arc:
      return "managed identity";
    case Credential::Kind::Az:
    case Credential::Kind::Login:
      return "the user of az login";
    case Credential::Kind::Password:
      return "user " + credential.username;
  }
  return "none";
}

// The one that is configured, else the only one that the credential sees. {"subscriptionId", "displayName",
// "tenantId"}.
Result<nlohmann::json> subscription_of(Manager& manager, const std::string& configured, const Stop& stop) {
  if (!configured.empty()) {
    azure::Answer answer =
        manager.call({.path = "subscriptions/" + configured, .version = kSubscriptions}, stop);
    if (!answer.ok()) return answer.failure().status;
    return answer.json();
  }
  std::vector<nlohmann::json> all;
  Status asked = manager.each({.path = "subscriptions", .version = kSubscriptions}, stop,
                              [&](const nlohmann::json& one) { all.push_back(one); });
  if (!asked.ok()) return asked;
  if (all.size() == 1) return all.front();
  return Status(Code::Invalid, all.empty() ? "the credential sees no subscription"
                                           : fmt::format("the credential sees {} subscriptions", all.size()))
      .with_hint(all.empty() ? "give it a role on one" : "AZURE_SUBSCRIPTION_ID says which");
}

// Within a role, actions listed in notActions are not permitted.
bool allowed(const std::vector<nlohmann::json>& roles, const std::string& action) {
  const auto any = [&](const nlohmann::json& patterns) {
    for (const nlohmann::json& pattern : patterns)
      if (pattern.is_string() && covers(pattern.get_ref<const std::string&>(), action)) return true;
    return false;
  };
  for (const nlohmann::json& role : roles)
    if (any(list_of(role, "actions")) && !any(list_of(role, "notActions"))) return true;
  return false;
}

void take_quotas(Manager& manager, const std::string& root, const std::string& location, const Stop& stop,
                 CloudAccount& account) {
  if (location.empty()) {
    account.quotas_status = Status(Code::Invalid, "no location is configured");
    return;
  }
  account.quotas_status = manager.each(
      {.path = root + "/providers/Microsoft.Compute/locations/" + location + "/usages", .version = kUsages},
      stop, [&](const nlohmann::json& one) {
        const nlohmann::json& name = member(one, "name");
        const std::string shown = text_of(name, "localizedValue");
        const double limit = number_of(one, "limit"), used = number_of(one, "currentValue");
        if (limit > 0 || used > 0)
          account.quotas.push_back({shown.empty() ? text_of(name, "value") : shown, limit, used});
      });
}

void take_permissions(Manager& manager, const std::string& root, const Stop& stop,
                      std::vector<CloudPermission>& permissions) {
  using Answer = CloudPermission::Answer;
  std::vector<nlohmann::json> roles;
  const Status asked =
      manager.each({.path = root + "/providers/Microsoft.Authorization/permissions", .version = kPermissions},
                   stop, [&](const nlohmann::json& role) { roles.push_back(role); });
  for (const char* action : kActions) {
    if (asked.ok())
      permissions.push_back({action, allowed(roles, action) ? Answer::Allowed : Answer::Missing, ""});
    else
      permissions.push_back({action, Answer::Unknown, asked.message()});
  }
}

}  // namespace

bool covers(std::string_view pattern, std::string_view action) { return matches_pattern(action, pattern); }

CloudAccount look_at_azure(http::Client& http, const azure::Settings& settings, const Stop& stop) {
  CloudAccount account{.cloud = "azure", .origin = settings.credential.origin, .region = settings.location};
  azure::Session session(http, settings);
  Manager manager(session);
  account.facts.emplace_back("identity", kind_of(settings.credential));
  const auto subscription = subscription_of(manager, settings.subscription, stop);
  if (!subscription.ok()) {
    account.status = subscription.status();
    return account;
  }
  const std::string id = text_of(*subscription, "subscriptionId"), root = "subscriptions/" + id;
  account.facts.emplace_back("subscription", id);
  for (const auto& [key, name] : {std::pair{"displayName", "subscription_name"}, {"tenantId", "tenant"}})
    if (const std::string value = text_of(*subscription, key); !value.empty())
      account.facts.emplace_back(name, value);
  take_quotas(manager, root, settings.location, stop, account);
  take_permissions(manager, root, stop, account.permissions);
  return account;
}

}  // namespace radl
