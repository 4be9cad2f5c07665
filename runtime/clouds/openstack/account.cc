#include "runtime/clouds/openstack/account.h"

#include <algorithm>
#include <set>

#include "common/openstack/client.h"
#include "common/openstack/values.h"

namespace radl {
namespace {

using http::Effect;
using openstack::Answer;
using openstack::list_of;
using openstack::member;
using openstack::number_of;
using openstack::Service;

struct Tried {
  const char *service, *method, *path;
};

// A creation cannot be tested without executing it. Changes and removals are requested for a nonexistent ID:
// the service reports "there is no such server" only after it has checked the policy.
constexpr const char* kNothing = "00000000-0000-0000-0000-000000000000";
constexpr Tried kTried[] = {
    {"compute", "GET", "/servers/detail"},
    {"compute", "GET", "/flavors/detail"},
    {"compute", "GET", "/os-keypairs"},
    {"compute", "GET", "/os-server-groups"},
    {"compute", "GET", "/limits"},
    {"compute", "GET", "/os-availability-zone"},
    {"compute", "DELETE", "/servers/"},
    {"compute", "DELETE", "/os-keypairs/"},
    {"compute", "DELETE", "/os-server-groups/"},
    {"network", "GET", "/networks"},
    {"network", "GET", "/subnets"},
    {"network", "GET", "/routers"},
    {"network", "GET", "/ports"},
    {"network", "GET", "/floatingips"},
    {"network", "GET", "/security-groups"},
    {"network", "DELETE", "/networks/"},
    {"network", "DELETE", "/subnets/"},
    {"network", "DELETE", "/routers/"},
    {"network", "DELETE", "/floatingips/"},
    {"network", "DELETE", "/security-groups/"},
    {"image", "GET", "/images"},
    {"volume", "GET", "/volumes/detail"},
    {"volume", "DELETE", "/volumes/"},
};

std::string name_of(const Tried& tried) {
  std::string path = tried.path;
  if (path.ends_with('/')) path += "ID";
  return std::string(tried.service) + " " + tried.method + " " + path;
}

CloudPermission try_call(Service& service, const Tried& tried, const Stop& stop) {
  CloudPermission result{name_of(tried), CloudPermission::Answer::Unknown, ""};
  std::string path = tried.path;
  if (path.ends_with('/')) path += kNothing;
  openstack::Call call{.method = tried.method, .path = path};
  if (std::string(tried.method) != "GET") call.effect = Effect::Repeatable;
  Answer answer = service.call(call, stop);
  if (answer.ok() || answer.failure().http_status == 404) {
    result.answer = CloudPermission::Answer::Allowed;
  } else if (answer.failure().http_status == 403) {
    result.answer = CloudPermission::Answer::Missing;
  } else {
    result.why = answer.failure().status.message();
  }
  return result;
}

void take_limits(Service& compute, const Stop& stop, std::vector<CloudQuota>& quotas) {
  Answer answer = compute.call({.path = "/limits"}, stop);
  if (!answer.ok()) return;
  const nlohmann::json& absolute = member(member(answer.json(), "limits"), "absolute");
  const std::tuple<const char*, const char*, const char*> known[] = {
      {"instances", "maxTotalInstances", "totalInstancesUsed"},
      {"cores", "maxTotalCores", "totalCoresUsed"},
      {"memory, MiB", "maxTotalRAMSize", "totalRAMUsed"},
      {"server groups", "maxServerGroups", "totalServerGroupsUsed"}};
  for (const auto& [name, limit, used] : known)
    if (member(absolute, limit).is_number())
      quotas.push_back({name, number_of(absolute, limit), number_of(absolute, used)});
}

void take_network_limits(Service& network, const std::string& project, const Stop& stop,
                         std::vector<CloudQuota>& quotas) {
  Answer answer = network.call({.path = "/quotas/" + project + "/details.json"}, stop);
  if (!answer.ok()) return;
  for (const auto& [key, name] : {std::pair{"floatingip", "floating addresses"},
                                  {"security_group", "security groups"},
                                  {"network", "networks"},
                                  {"router", "routers"}}) {
    const nlohmann::json& one = member(member(answer.json(), "quota"), key);
    if (one.is_object()) quotas.push_back({name, number_of(one, "limit", -1), number_of(one, "used")});
  }
}

}  // namespace

CloudAccount look_at_openstack(http::Client& http, const openstack::Settings& settings, const Stop& stop) {
  CloudAccount account{.cloud = "openstack", .origin = settings.origin, .region = settings.region};
  openstack::Session session(http, settings);
  auto token = session.token(stop);
  if (!token.ok()) {
    account.status = token.status();
    return account;
  }
  account.expires = (*token)->expires;
  std::set<std::string> services;
  for (const auto& endpoint : (*token)->catalog) services.insert(endpoint.type);
  account.permissions_note = "requests that create something are not tried";
  account.facts = {{"user", (*token)->user_name},
                   {"project", (*token)->project_name},
                   {"project_id", (*token)->project_id},
                   {"roles", (*token)->roles},
                   {"services", services}};
  Service compute(session, "compute", "2.90"), network(session, "network"), image(session, "image"),
      volume(session, "volume");
  // Another region, or no project: no further queries are possible.
  if (account.status = compute.present(stop); !account.status.ok()) return account;
  take_limits(compute, stop, account.quotas);
  take_network_limits(network, (*token)->project_id, stop, account.quotas);
  for (const Tried& tried : kTried) {
    const std::string name = tried.service;
    Service& service = name == "compute"   ? compute
                       : name == "network" ? network
                       : name == "image"   ? image
                                           : volume;
    if (name == "volume" && !service.present(stop).ok()) {
      account.permissions.push_back(
          {name_of(tried), CloudPermission::Answer::Unknown, "the cloud has no block storage"});
      continue;
    }
    account.permissions.push_back(try_call(service, tried, stop));
  }
  return account;
}

}  // namespace radl
