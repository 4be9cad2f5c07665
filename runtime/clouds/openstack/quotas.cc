#include "runtime/clouds/openstack/quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/http/url.h"
#include "common/human.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/images.h"
#include "runtime/clouds/port_rules.h"

namespace radl::openstack {
namespace {

// Neutron gives every new group rules that let everything out, by IPv4 and by IPv6.
constexpr double kRulesOfANewGroup = 2;

Json quota(double limit, double used, double ours) {
  return {{"limit", limit}, {"used", used}, {"ours", ours}};
}

// How many of a kind are ours; 0 where they cannot be listed.
double count_of(Asking& call, const std::unique_ptr<Kind>& kind) {
  std::vector<Seen> seen;
  const Status asked = kind->look(call, {{}, {}, true}, seen);
  return asked.ok() ? static_cast<double>(seen.size()) : 0;
}

Status survey_compute(Asking& call, const Ours& ours, Json& quotas) {
  auto limits = read(call.services.compute, call.context, "/limits");
  if (!limits.ok()) return limits.status();
  const Json& absolute = member(member(*limits, "limits"), "absolute");
  auto take = [&](const char* name, const char* limit, const char* used, double own) {
    if (member(absolute, limit).is_number())
      quotas[name] = quota(number_of(absolute, limit), number_of(absolute, used), own);
  };
  take("instances", "maxTotalInstances", "totalInstancesUsed", static_cast<double>(ours.servers.size()));
  take("cores", "maxTotalCores", "totalCoresUsed", ours.cores);
  take("memory_mib", "maxTotalRAMSize", "totalRAMUsed", ours.memory_mib);
  take("server_groups", "maxServerGroups", "totalServerGroupsUsed", count_of(call, make_server_group()));
  // Nova reports only the limit of key pairs.
  if (!member(absolute, "maxTotalKeypairs").is_number()) return {};
  double used = 0;
  Status asked = call.services.compute.each("/os-keypairs", "keypairs", {}, waits(call.context),
                                            [&](const Json&) { ++used; });
  if (asked.ok())
    quotas["key_pairs"] =
        quota(number_of(absolute, "maxTotalKeypairs"), used, count_of(call, make_key_pair()));
  return {};
}

// What Neutron counts: its word, ours, and the list of what there is.
struct NetworkQuota {
  const char *key, *name, *path, *list;
};
constexpr NetworkQuota kOfNetworks[] = {
    {"floatingip", "floating_addresses", "/floatingips", "floatingips"},
    {"security_group", "security_groups", "/security-groups", "security_groups"},
    {"network", "networks", "/networks", "networks"},
    {"subnet", "subnets", "/subnets", "subnets"},
    {"router", "routers", "/routers", "routers"}};

// Not every cloud reports it: unknown quotas are not checked.
void survey_network(Asking& call, const std::string& project, const Ours& ours, Json& quotas) {
  auto details =
      read(call.services.network, call.context, "/quotas/" + http::percent_encode(project) + "/details.json");
  if (!details.ok()) return;
  const Json& all = member(*details, "quota");
  auto take = [&](const char* key, const char* name, double own) {
    const Json& one = member(all, key);
    if (one.is_object()) quotas[name] = quota(number_of(one, "limit", -1), number_of(one, "used"), own);
  };
  std::set<std::string> devices = ours.servers;
  double rules = 0, ports = 0;
  for (const NetworkQuota& one : kOfNetworks) {
    double own = 0;
    const Status asked =
        call.services.network.each(one.path, one.list, {}, waits(call.context), [&](const Json& item) {
          if (!from_line(text_of(item, "description")).ours(call.context)) return;
          ++own;
          devices.insert(text_of(item, "id"));
          rules += static_cast<double>(list_of(item, "security_group_rules").size());
        });
    if (asked.ok()) take(one.key, one.name, own);
  }
  take("security_group_rule", "security_group_rules", rules);
  const Status asked = call.services.network.each(
      "/ports", "ports", {}, waits(call.context),
      [&](const Json& item) { ports += static_cast<double>(devices.count(text_of(item, "device_id"))); });
  if (asked.ok()) take("port", "ports", ports);
}

void survey_volumes(Asking& call, Json& quotas) {
  if (!call.services.volume.present(call.context.stop).ok()) return;
  auto limits = read(call.services.volume, call.context, "/limits");
  if (!limits.ok()) return;
  const Json& absolute = member(member(*limits, "limits"), "absolute");
  double count = 0, size = 0;
  Status asked =
      call.services.volume.each("/volumes/detail", "volumes", {}, waits(call.context), [&](const Json& item) {
        if (!from_metadata(member(item, "metadata")).ours(call.context)) return;
        ++count;
        size += number_of(item, "size");
      });
  if (!asked.ok()) return;
  quotas["volumes"] =
      quota(number_of(absolute, "maxTotalVolumes", -1), number_of(absolute, "totalVolumesUsed"), count);
  quotas["volume_gib"] = quota(number_of(absolute, "maxTotalVolumeGigabytes", -1),
                               number_of(absolute, "totalGigabytesUsed"), size);
}

// GiB of the volume that a machine's root disk is where its flavor's own does not do (launch.cc); 0: none.
double root_volume_gib(const Wanted& wanted, const Survey& survey) {
  if (names_volume(text_of(wanted.spec, "image"))) return 0;
  const Json& root = member(wanted.spec, "root");
  const Json& needs = member(member(survey.facts, "needs"), text_of(wanted.spec, "image"));
  const double free = number_of(root, "free_gib");
  const double size =
      std::max(number_of(root, "size_gib"), free > 0 ? number_of(needs, "disk_gib") + free : 0);
  const Json& there = list_of(survey.facts, "flavors");
  const auto flavor = std::find_if(there.begin(), there.end(), [&](const Json& one) {
    return flavor_from_json(one).type.name == wanted.offers[wanted.chosen].name;
  });
  const double own = flavor == there.end() ? size : flavor_from_json(*flavor).disk_gib;
  const bool needed = root.contains("type") || size > own || (own == 0 && flavor != there.end());
  return needed ? std::max(size, 1.0) : 0;
}

// What one resource of a design takes of the quotas.
void add_needs(const Wanted& wanted, const Survey& survey, std::map<std::string, double>& needed) {
  static const std::map<std::string, std::string> kByType = {
      {"server", "instances"}, {"floating_ip", "floating_addresses"}, {"network", "networks"},
      {"router", "routers"},   {"security_group", "security_groups"}, {"subnet", "subnets"},
      {"volume", "volumes"},   {"server_group", "server_groups"},     {"key_pair", "key_pairs"}};
  if (auto name = kByType.find(wanted.type); name != kByType.end()) needed[name->second] += 1;
  if (wanted.type == "volume") needed["volume_gib"] += number_of(wanted.spec, "size_gib");
  if (wanted.type == "router") needed["ports"] += 1;
  if (wanted.type == "security_group")
    needed["security_group_rules"] +=
        kRulesOfANewGroup + static_cast<double>(rules_wanted(wanted.spec).size());
  if (wanted.offers.empty()) return;
  needed["ports"] += static_cast<double>(list_of(wanted.spec, "networks").size());
  if (const double gib = root_volume_gib(wanted, survey); gib > 0) {
    needed["volumes"] += 1;
    needed["volume_gib"] += gib;
  }
  needed["cores"] += wanted.offers[wanted.chosen].facts.cpu;
  needed["memory_mib"] += wanted.offers[wanted.chosen].facts.memory_bytes / kMiB;
}

}  // namespace

Result<Ours> ours_of(Asking& call, const std::vector<Flavor>& flavors) {
  Ours ours;
  auto take = [&](const Json& item) {
    if (!from_metadata(member(item, "metadata")).ours(call.context)) return;
    ours.servers.insert(text_of(item, "id"));
    const Json& flavor = member(item, "flavor");
    ours.cores += number_of(flavor, "vcpus");
    ours.memory_mib += number_of(flavor, "ram");
    for (const Flavor& one : flavors) {
      if (one.id != text_of(flavor, "id")) continue;
      ours.cores += one.type.cpu;
      ours.memory_mib += one.type.memory_bytes / kMiB;
    }
  };
  Status asked = call.services.compute.each("/servers/detail", "servers", {}, waits(call.context), take);
  if (!asked.ok()) return asked;
  return ours;
}

Result<Json> survey_quotas(Asking& call, const Ours& ours, const std::string& project) {
  Json quotas = Json::object();
  if (Status asked = survey_compute(call, ours, quotas); !asked.ok()) return asked;
  survey_network(call, project, ours, quotas);
  survey_volumes(call, quotas);
  return quotas;
}

Status check_quotas(const DesignInput& input, const Design& design) {
  const Json& quotas = member(input.survey.facts, "quotas");
  if (!quotas.is_object()) return {};
  std::map<std::string, double> needed;
  for (const Wanted& wanted : design.resources) add_needs(wanted, input.survey, needed);
  for (const auto& [name, need] : needed) {
    const Json& one = member(quotas, name);
    const double limit = number_of(one, "limit", -1);
    const double others = number_of(one, "used") - number_of(one, "ours");
    if (limit < 0 || need + others <= limit) continue;
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    return Status(Code::Quota,
                  fmt::format("the quota of {} of this project is {}; {} are in use, and this plan needs {}",
                              words, plain_number(limit), plain_number(others), plain_number(need)))
        .with_hint("ask the administrator of the cloud for more (`openstack quota show` lists quotas)");
  }
  return {};
}

std::vector<QuotaUse> quota_uses(const InstanceType& type, const Survey& survey) {
  std::vector<QuotaUse> uses;
  for (const auto& [name, each] : {std::pair<const char*, double>{"instances", 1},
                                   {"cores", type.cpu},
                                   {"memory_mib", type.memory_bytes / kMiB}}) {
    const Json& one = member(member(survey.facts, "quotas"), name);
    const double limit = number_of(one, "limit", -1);
    if (limit >= 0)
      uses.push_back({std::string(name) + " of the project", each,
                      limit - number_of(one, "used") + number_of(one, "ours")});
  }
  return uses;
}

}  // namespace radl::openstack
