#include "runtime/clouds/openstack/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/http/url.h"
#include "common/human.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/group_rules.h"
#include "runtime/clouds/openstack/images.h"
#include "runtime/clouds/openstack/networks.h"
#include "runtime/clouds/openstack/quotas.h"
#include "runtime/clouds/openstack/volumes.h"
#include "runtime/clouds/wishes.h"

namespace radl::openstack {
namespace {

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
    facts["image_architectures"][wanted->text] = architecture_name(image->architecture);
    facts["needs"][wanted->text] = {{"memory_bytes", image->min_memory_bytes},
                                    {"disk_gib", image->min_disk_gib}};
  }
  return {};
}

Result<NetworkNow> network_meant(Asking& call, const ir::Network& network, bool floating, bool is_there) {
  const std::string provider = text_wanted(network, "provider_id");
  // A router also leads to the external network.
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

Status survey_groups(Asking& call, const ir::Program& program) {
  for (const ir::Network& network : program.networks) {
    const std::string name = text_wanted(network, "sg_name");
    if (name.empty() || network.reference) continue;
    if (Status right = is_new_group(call, name, ""); !right.ok())
      return Status(right).at("network " + network.name);
  }
  return {};
}

Status survey_addresses(Asking& call, const ir::Program& program, const Ours& ours) {
  for (const ir::Node& node : program.nodes) {
    const std::string wanted = fixed_public_ip(node, program);
    if (wanted.empty()) continue;
    auto found = floating_address(call, wanted);
    if (!found.ok()) return Status(found.status()).at(node.address);
    if (found->port.empty() || ours.servers.count(found->server)) continue;
    return invalid(
        fmt::format("{}: floating address {} is in use by {}", node.address, wanted, found->holder()));
  }
  return {};
}

// Volumes that the file names, and types of new ones.
Status survey_volumes(Asking& call, const ir::Program& program, const std::string& host, const Ours& ours,
                      Json& facts) {
  std::set<std::string> looked;  // every node of a system has the whole list
  for (const ir::Node& node : program.nodes) {
    for (const ir::Disk& disk : node.disks) {
      for (const std::string& url : disk.image_urls) {
        const std::string name = disk.index == 0 ? "" : volume_in_url(url, host);
        if (name.empty() || !looked.insert(name).second) continue;
        auto volume = volume_named(call, name);
        Status right = volume.status();
        if (right.ok() && !ours.servers.count(volume->server)) right = is_free(call, *volume);
        if (!right.ok())
          return Status(right).at(fmt::format("{}: disk.{}.image.url", node.address, disk.index));
      }
    }
  }
  if (!call.services.volume.present(call.context.stop).ok()) return {};
  Json types = Json::array();
  const Status asked =
      call.services.volume.each("/types", "volume_types", {}, waits(call.context),
                                [&](const Json& item) { types.push_back(text_of(item, "name")); });
  if (asked.ok()) facts["volume_types"] = std::move(types);
  return {};
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
  auto ours = ours_of(call, *flavors);
  if (!ours.ok()) return ours.status();
  if (Status asked = survey_networks(call, program, !ours->servers.empty()); !asked.ok()) return asked;
  if (Status asked = survey_groups(call, program); !asked.ok()) return asked;
  if (Status asked = survey_addresses(call, program, *ours); !asked.ok()) return asked;
  if (Status asked = survey_volumes(call, program, host, *ours, facts); !asked.ok()) return asked;
  auto quotas = survey_quotas(call, *ours, (*token)->project_id);
  if (!quotas.ok()) return quotas.status();
  facts["quotas"] = std::move(*quotas);
  return facts;
}

}  // namespace radl::openstack
