#include "runtime/clouds/gce/account.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "common/google/client.h"
#include "common/json_values.h"

namespace radl {
namespace {

using google::Credential;
using google::Service;
using json::list_of;
using json::number_of;
using json::text_of;

constexpr const char* kPermissions[] = {
    "compute.addresses.create",
    "compute.addresses.delete",
    "compute.addresses.get",
    "compute.addresses.list",
    "compute.addresses.use",
    "compute.disks.create",
    "compute.disks.delete",
    "compute.disks.get",
    "compute.disks.list",
    "compute.disks.setLabels",
    "compute.disks.update",
    "compute.disks.use",
    "compute.firewalls.create",
    "compute.firewalls.delete",
    "compute.firewalls.get",
    "compute.firewalls.list",
    "compute.firewalls.update",
    "compute.globalOperations.get",
    "compute.globalOperations.list",
    "compute.images.get",
    "compute.images.getFromFamily",
    "compute.images.useReadOnly",
    "compute.instances.addAccessConfig",
    "compute.instances.create",
    "compute.instances.delete",
    "compute.instances.deleteAccessConfig",
    "compute.instances.get",
    "compute.instances.getGuestAttributes",
    "compute.instances.getSerialPortOutput",
    "compute.instances.list",
    "compute.instances.resume",
    "compute.instances.setLabels",
    "compute.instances.setMachineType",
    "compute.instances.setMetadata",
    "compute.instances.setTags",
    "compute.instances.start",
    "compute.instances.stop",
    "compute.networks.create",
    "compute.networks.delete",
    "compute.networks.get",
    "compute.networks.getRegionEffectiveFirewalls",
    "compute.networks.list",
    "compute.networks.updatePolicy",
    "compute.networks.use",
    "compute.networks.useExternalIp",
    "compute.projects.get",
    "compute.regionOperations.get",
    "compute.regions.get",
    "compute.resourcePolicies.create",
    "compute.resourcePolicies.delete",
    "compute.resourcePolicies.get",
    "compute.resourcePolicies.list",
    "compute.resourcePolicies.use",
    "compute.routers.create",
    "compute.routers.delete",
    "compute.routers.get",
    "compute.routers.list",
    "compute.subnetworks.create",
    "compute.subnetworks.delete",
    "compute.subnetworks.get",
    "compute.subnetworks.list",
    "compute.subnetworks.use",
    "compute.subnetworks.useExternalIp",
    "compute.zoneOperations.get",
};
constexpr size_t kMostAtOnce = 100;  // of one testIamPermissions
static_assert(std::size(kPermissions) <= kMostAtOnce);

std::string kind_of(const Credential& credential) {
  switch (credential.kind) {
    case Credential::Kind::None:
      return "none";
    case Credential::Kind::ServiceAccount:
      return "service account";
    case Credential::Kind::AuthorizedUser:
      return "user";
    case Credential::Kind::ExternalAccount:
      return "workload identity federation";
    case Credential::Kind::WorkforceUser:
      return "user of workforce identity federation";
    case Credential::Kind::Impersonated:
      return "impersonated service account";
    case Credential::Kind::Metadata:
      return "this machine's service account";
  }
  return "none";
}

// As for gcloud.
std::string manager_url(const Environment& environment) {
  const std::string url = environment("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER");
  if (url.empty()) return "https://cloudresourcemanager.googleapis.com/v1/";
  return url.ends_with('/') ? url : url + "/";
}

// A project has a hundred quotas; these are what its machines, networks and disks count against.
bool matters(const std::string& metric) {
  for (const char* end : {"CPUS", "GPUS", "INSTANCES", "ADDRESSES", "NETWORKS", "FIREWALLS", "ROUTERS",
                          "_TOTAL_GB", "_ALL_REGIONS"})
    if (metric.ends_with(end)) return true;
  return false;
}

void take_quotas(const nlohmann::json& document, const std::string& of, std::vector<CloudQuota>& quotas) {
  for (const nlohmann::json& quota : list_of(document, "quotas")) {
    const std::string metric = text_of(quota, "metric");
    const double limit = number_of(quota, "limit"), used = number_of(quota, "usage");
    // Omits unavailable families, except the quota that blocks every accelerator.
    if (matters(metric) && (limit > 0 || used > 0 || metric == "GPUS_ALL_REGIONS"))
      quotas.push_back({metric + of, limit, used});
  }
}

void take_permissions(google::Session& session, const std::string& project, const Stop& stop,
                      std::vector<CloudPermission>& permissions) {
  Service manager(session, manager_url(session.http().environment()));
  const google::Answer answer = manager.call({.method = "POST",
                                              .path = "projects/" + project + ":testIamPermissions",
                                              .body = {{"permissions", kPermissions}}},
                                             stop);
  std::set<std::string> granted;
  if (answer.ok())
    for (const nlohmann::json& one : list_of(answer.json(), "permissions"))
      if (one.is_string()) granted.insert(one.get<std::string>());
  for (const char* name : kPermissions) {
    using Answer = CloudPermission::Answer;
    if (!answer.ok())
      permissions.push_back({name, Answer::Unknown, answer.failure().status.message()});
    else
      permissions.push_back({name, granted.count(name) ? Answer::Allowed : Answer::Missing, ""});
  }
}

}  // namespace

CloudAccount look_at_google(http::Client& http, const google::Settings& settings, const Stop& stop) {
  CloudAccount account{.cloud = "gce", .origin = settings.credential.origin, .region = settings.region};
  google::Session session(http, settings);
  const auto project = session.project(stop);
  if (!project.ok()) {
    account.status = project.status();
    return account;
  }
  account.facts.emplace_back("identity", settings.credential.account.empty() ? kind_of(settings.credential)
                                                                             : settings.credential.account);
  account.facts.emplace_back("project", *project);
  const auto token = session.token(stop);
  if (!token.ok()) {
    account.status = token.status();
    return account;
  }
  Service compute(session, settings.compute_url);
  const google::Answer whole = compute.call({.path = "projects/" + *project}, stop);
  if (whole.ok()) take_quotas(whole.json(), " of the project", account.quotas);
  if (!whole.ok()) account.quotas_status = whole.failure().status;
  if (whole.ok() && !settings.region.empty()) {
    const google::Answer region =
        compute.call({.path = "projects/" + *project + "/regions/" + settings.region}, stop);
    if (region.ok()) take_quotas(region.json(), "", account.quotas);
    if (!region.ok()) account.quotas_status = region.failure().status;
  }
  take_permissions(session, *project, stop, account.permissions);
  return account;
}

}  // namespace radl
