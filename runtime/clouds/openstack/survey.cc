#include "runtime/clouds/openstack/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/http/url.h"
#include "common/human.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/images.h"
#include "runtime/clouds/openstack/networks.h"

namespace radl::openstack {
namespace {

Json quota(double limit, double used, double ours) {
  return {{"limit", limit}, {"used", used}, {"ours", ours}};
}

Status survey_zones(Asking& call, Json& facts) {
  auto zones = read(call.services.compute, call.context, "/os-availability-zone");
  if (!zones.ok()) return zones.status();
  facts["zones"] = Json::array();
  for (const Json& zone : list_of(*zones, "availabilityZoneInfo"))
    if (flag_of(member(zone, "zoneState"), "available", true))
      facts["zones"].push_back(text_of(zone, "zoneName"));
  return {};
}

Status survey_images(Asking& call, const ir::Program& program, const std::string& host, Json& facts) {
  facts["images"] = Json::object();
  for (const ir::Node& node : program.nodes) {
    auto wanted = image_wanted(node, host, call.services.session.settings().egi_site);
    // Which cloud a node is for is not this cloud's to say.
    const bool elsewhere = wanted.ok() && !wanted->host.empty() && !host.empty() && wanted->host != host;
    if (!wanted.ok() || elsewhere || facts["images"].contains(wanted->text)) continue;
    auto image = find_image(call, wanted->text);
    if (!image.ok()) return Status(image.status()).at(node.address);
    facts["images"][wanted->text] = image->id;
    facts["needs"][wanted->text] = {{"memory_bytes", image->min_memory_bytes},
                                    {"disk_gib", image->min_disk_gib}};
  }
  return {};
}

Result<NetworkNow> network_meant(Asking& call, const ir::Network& network, bool floating, bool is_there) {
  const std::string provider = text_wanted(network, "provider_id");
  // A router leads to the external network as well.
  if (floating || is_made(network)) return external_network(call, floating ? provider : "");
  if (!provider.empty()) return network_named(call, provider);
  return is_there ? Result<NetworkNow>(NetworkNow()) : default_network(call);
}

// Networks that the file names, and the one that is meant where it names none. `is_there`: machines are in
// one already, whatever networks have come since.
Status survey_networks(Asking& call, const ir::Program& program, bool is_there) {
  for (const ir::Node& node : program.nodes) {
    bool inside = false;
    for (const ir::Interface& interface : node.interfaces) {
      for (const ir::Network& network : program.networks) {
        if (network.name != interface.network || network.reference) continue;
        const bool floating = network.is_public && !says_no(node, "elastic_ip");
        inside |= !floating;
        auto found = network_meant(call, network, floating, is_there);
        const Status reached = !found.ok() ? found.status() : floating ? Status() : has_ipv4(*found);
        if (!reached.ok()) return Status(reached).at("network " + network.name).at(node.address);
      }
    }
    if (inside || is_there) continue;
    if (auto found = default_network(call); !found.ok()) return Status(found.status()).at(node.address);
  }
  return {};
}

// How much of what is used is this infrastructure's own.
struct Ours {
  double servers = 0, cores = 0, memory_mib = 0;
};
Result<Ours> ours_of(Asking& call, const std::vector<Flavor>& flavors) {
  Ours ours;
  Status asked = call.services.compute.each("/servers/detail", "servers", {}, waits(call.context),
                                            [&](const Json& item) {
                                              if (!from_metadata(member(item, "metadata")).ours(call.context))
                                                return;
                                              ++ours.servers;
                                              const Json& flavor = member(item, "flavor");
                                              ours.cores += number_of(flavor, "vcpus");
                                              ours.memory_mib += number_of(flavor, "ram");
                                              for (const Flavor& one : flavors) {
                                                if (one.id != text_of(flavor, "id")) continue;
                                                ours.cores += one.type.cpu;
                                                ours.memory_mib += one.type.memory_bytes / kMiB;
                                              }
                                            });
  if (!asked.ok()) return asked;
  return ours;
}

Status survey_compute(Asking& call, const Ours& ours, Json& quotas) {
  auto limits = read(call.services.compute, call.context, "/limits");
  if (!limits.ok()) return limits.status();
  const Json& absolute = member(member(*limits, "limits"), "absolute");
  auto take = [&](const char* name, const char* limit, const char* used, double own) {
    if (member(absolute, limit).is_number())
      quotas[name] = quota(number_of(absolute, limit), number_of(absolute, used), own);
  };
  take("instances", "maxTotalInstances", "totalInstancesUsed", ours.servers);
  take("cores", "maxTotalCores", "totalCoresUsed", ours.cores);
  take("memory_mib", "maxTotalRAMSize", "totalRAMUsed", ours.memory_mib);
  return {};
}

// Not every cloud tells: what is not known is not checked.
void survey_network(Asking& call, const std::string& project, Json& quotas) {
  auto details =
      read(call.services.network, call.context, "/quotas/" + http::percent_encode(project) + "/details.json");
  if (!details.ok()) return;
  const Json& all = member(*details, "quota");
  for (const auto& [key, name] : {std::pair{"floatingip", "floating_addresses"},
                                  {"security_group", "security_groups"},
                                  {"network", "networks"},
                                  {"router", "routers"}}) {
    const Json& one = member(all, key);
    if (one.is_object()) quotas[name] = quota(number_of(one, "limit", -1), number_of(one, "used"), 0);
  }
  const std::map<std::string, std::pair<const char*, const char*>> kinds = {
      {"floating_addresses", {"/floatingips", "floatingips"}},
      {"security_groups", {"/security-groups", "security_groups"}},
      {"networks", {"/networks", "networks"}},
      {"routers", {"/routers", "routers"}}};
  for (const auto& [name, where] : kinds) {
    if (!quotas.contains(name)) continue;
    double own = 0;
    Status asked = call.services.network.each(
        where.first, where.second, {}, waits(call.context),
        [&](const Json& item) { own += from_line(text_of(item, "description")).ours(call.context) ? 1 : 0; });
    if (asked.ok()) quotas[name]["ours"] = own;
  }
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
double root_volume(const Wanted& wanted, const Survey& survey) {
  const Json& root = member(wanted.spec, "root");
  const double size = number_of(root, "size_gib");
  const Json& there = list_of(survey.facts, "flavors");
  const auto flavor = std::find_if(there.begin(), there.end(), [&](const Json& one) {
    return flavor_from_json(one).type.name == wanted.offers[wanted.chosen].name;
  });
  const double own = flavor == there.end() ? size : flavor_from_json(*flavor).disk_gib;
  const bool needed = root.contains("type") || size > own || (own == 0 && flavor != there.end());
  return needed ? std::max(size, 1.0) : 0;
}

}  // namespace

Result<Json> take_survey(Asking& call, const ir::Program& program, const std::string& host) {
  Json facts = Json::object();
  auto token = call.services.session.token(call.context.stop);
  if (!token.ok()) return token.status();
  facts["project"] = (*token)->project_id;
  if (Status asked = survey_zones(call, facts); !asked.ok()) return asked;
  auto flavors = flavors_there(call);
  if (!flavors.ok()) return flavors.status();
  facts["flavors"] = Json::array();
  for (const Flavor& flavor : *flavors) facts["flavors"].push_back(to_json(flavor));
  if (Status asked = survey_images(call, program, host, facts); !asked.ok()) return asked;
  facts["quotas"] = Json::object();
  auto ours = ours_of(call, *flavors);
  if (!ours.ok()) return ours.status();
  if (Status asked = survey_networks(call, program, ours->servers > 0); !asked.ok()) return asked;
  if (Status asked = survey_compute(call, *ours, facts["quotas"]); !asked.ok()) return asked;
  survey_network(call, (*token)->project_id, facts["quotas"]);
  survey_volumes(call, facts["quotas"]);
  return facts;
}

Status check_quotas(const DesignInput& input, const Design& design) {
  const Json& quotas = member(input.survey.facts, "quotas");
  if (!quotas.is_object()) return {};
  std::map<std::string, double> needed;
  const std::map<std::string, std::string> by_type = {{"server", "instances"},
                                                      {"floating_ip", "floating_addresses"},
                                                      {"security_group", "security_groups"},
                                                      {"network", "networks"},
                                                      {"router", "routers"},
                                                      {"volume", "volumes"}};
  for (const Wanted& wanted : design.resources) {
    if (auto name = by_type.find(wanted.type); name != by_type.end()) needed[name->second] += 1;
    if (wanted.type == "volume") needed["volume_gib"] += number_of(wanted.spec, "size_gib");
    if (wanted.offers.empty()) continue;
    if (const double gib = root_volume(wanted, input.survey); gib > 0) {
      needed["volumes"] += 1;
      needed["volume_gib"] += gib;
    }
    needed["cores"] += wanted.offers[wanted.chosen].facts.cpu;
    needed["memory_mib"] += wanted.offers[wanted.chosen].facts.memory_bytes / kMiB;
  }
  for (const auto& [name, need] : needed) {
    const Json& one = member(quotas, name);
    const double limit = number_of(one, "limit", -1);
    const double others = number_of(one, "used") - number_of(one, "ours");
    if (limit < 0 || need + others <= limit) continue;
    return Status(Code::Quota,
                  fmt::format("the project's quota of {} is {}, others use {} of it, and this needs {}", name,
                              plain_number(limit), plain_number(others), plain_number(need)))
        .with_hint("ask the cloud's administrator for more: `openstack quota show`");
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
