#include "runtime/clouds/openstack/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "common/host_name.h"
#include "common/text.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/design_builder.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/images.h"
#include "runtime/clouds/openstack/offers.h"
#include "runtime/clouds/openstack/quotas.h"
#include "runtime/clouds/openstack/volumes.h"
#include "runtime/clouds/port_rules.h"
#include "runtime/clouds/tag_rules.h"

namespace radl::openstack {
namespace {

// Before it is encoded: 65,535 bytes after that (Nova's API, "user_data").
constexpr size_t kLargestUserData = 49149;
constexpr double kBootSeconds = 45, kRequestSeconds = 1;
constexpr const char* kOwnDisks = "ephemeral";  // `disk.N.type` of disks of the flavor's own room

// Whether its machines get addresses of an external network's, or are in the public network itself.
bool has_floating(const ir::Node& node, const DesignInput& input) {
  if (says_no(node, "elastic_ip")) return false;
  const auto networks = networks_of(input, node);
  return std::any_of(networks.begin(), networks.end(), [](const ir::Network* one) { return one->is_public; });
}

std::string net_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network,
                        const char* what) {
  // "network.lan@CLOUD" is "subnet.lan@CLOUD".
  return what + network_address(cloud, input, network).substr(std::string("network").size());
}

// Nova's words for what EC2 calls placement groups.
Result<std::string> group_policy(const ir::Node& node) {
  const std::string placement = text_wanted(node, "placement_group");
  if (placement.empty()) return std::string();
  if (placement == "cluster") return std::string("soft-affinity");
  if (placement == "spread") return std::string("soft-anti-affinity");
  return invalid(fmt::format("{}: placement_group = '{}': must be cluster or spread in OpenStack",
                             node.address, placement));
}

bool has_volumes(const ir::Node& node) {
  return std::any_of(node.disks.begin(), node.disks.end(),
                     [](const ir::Disk& disk) { return is_further_disk(disk) && disk.type != kOwnDisks; });
}

class Designer : private DesignBuilder {
 public:
  Designer(const Place& place, const DesignInput& input)
      : DesignBuilder(place.cloud, input, kRequestSeconds, {kLargestUserData, "OpenStack"},
                      {"ec2.associate_public_ip_address", "instance_profile"}),
        place_(place) {}

  Result<Design> make() {
    if (input_.nodes.empty()) return Design();
    add(key_address(cloud_), "key_pair", "ed25519 key pair for SSH", {{"type", "ed25519"}}, {});
    add(access(), "security_group", "security group: SSH from this computer",
        {{"rules", {kSshFromThisComputer}}}, {});
    for (const ir::Network* network : networks_to_make(input_)) add_network(*network);
    for (const ir::Node* node : input_.nodes)
      if (Status added = add_node(*node); !added.ok()) return added;
    if (Status room = check_quotas(input_, design_); !room.ok()) return room;
    return std::move(design_);
  }

 private:
  std::string access() const { return "access." + cloud_.text(); }

  void add_network(const ir::Network& network) {
    for (const ir::PortRule& rule : network.ports) {
      if (rule.remote != rule.local)
        note(fmt::format("network {}: OpenStack does not map ports: {} is open as {}", network.name,
                         rule.remote, rule.local));
    }
    note_without_effect(network, {"router", "proxy_host", "proxy_key"});
    if (!is_made(network)) note_without_effect(network, {"cidr", "dnsserver", "gateway"});
    Json spec = {{"rules", network_rules(network)}};
    if (std::string name = text_wanted(network, "sg_name"); !name.empty()) spec["name"] = name;
    const size_t ports = network.ports.size();
    add(network_address(cloud_, input_, network), "security_group",
        fmt::format("security group of {}, {} port rule{}",
                    network.is_public ? "a public network" : "a private network", ports,
                    ports == 1 ? "" : "s"),
        std::move(spec), {});
    if (network.is_public && says_yes(network, "create"))
      note(fmt::format("network {}: a public network is not created: it is the external network of the cloud",
                       network.name));
    if (is_made(network)) add_made(network);
  }

  // create = 'yes': a network, its subnet, and a router to the outside.
  void add_made(const ir::Network& network) {
    const std::string net = net_address(cloud_, input_, network, "net"),
                      subnet = net_address(cloud_, input_, network, "subnet");
    const std::string range = text_wanted(network, "cidr");
    add(net, "network", "network " + network.name, Json::object(), {});
    Json spec = {{"network", net}, {"cidr", range.empty() ? kUsualRange : range}};
    if (std::string server = text_wanted(network, "dnsserver"); !server.empty())
      spec["nameservers"] = {server};
    if (std::string gateway = text_wanted(network, "gateway"); !gateway.empty()) spec["gateway"] = gateway;
    add(subnet, "subnet", "subnet of network " + network.name, std::move(spec), {net});
    add(net_address(cloud_, input_, network, "router"), "router",
        "router between network " + network.name + " and the outside", {{"subnet", subnet}}, {subnet});
  }

  // Which of the cloud's networks a machine is in; in the order of its interfaces.
  void join_networks(const ir::Node& node, bool floating, Json& spec, std::vector<std::string>& references) {
    Json networks = Json::array();
    for (const ir::Interface& interface : node.interfaces) {
      for (const ir::Network* network : networks_of(input_, node)) {
        if (network->name != interface.network || (network->is_public && floating)) continue;
        Json one = {{"name", network->name}};
        if (is_made(*network)) {
          one["made"] = net_address(cloud_, input_, *network, "net");
          for (const char* what : {"net", "subnet", "router"})
            references.push_back(net_address(cloud_, input_, *network, what));
        } else if (std::string id = text_wanted(*network, "provider_id"); !id.empty()) {
          one["provider"] = id;
        }
        if (network->is_public) one["public"] = true;
        if (!interface.fixed_ip.empty()) one["fixed_ip"] = interface.fixed_ip;
        networks.push_back(std::move(one));
      }
    }
    if (networks.empty()) networks.push_back({{"name", "default"}});
    spec["networks"] = std::move(networks);
  }

  Status add_node(const ir::Node& node) {
    std::vector<std::string> groups = {access()};
    for (const ir::Network* network : networks_of(input_, node))
      groups.push_back(network_address(cloud_, input_, *network));
    std::vector<std::string> references = {key_address(cloud_)};
    references.insert(references.end(), groups.begin(), groups.end());
    auto made = machine_spec(node, std::move(groups));
    if (!made.ok()) return made.status();
    Json& spec = *made;
    const bool floating = has_floating(node, input_);
    join_networks(node, floating, spec, references);
    if (floating) add_floating(node, spec, references);
    if (Status added = add_features(node, spec, references); !added.ok()) return added;
    auto offers = offers_for(place_, node, input_);
    if (!offers.ok()) return offers.status();
    if (!offers->front().spec.contains("type")) {
      spec["flavor"] = flavor_wanted(node);
      if (const std::string arch = text_wanted(node, "cpu.arch"); !arch.empty()) spec["arch"] = arch;
    }
    if (!spec.contains("zone")) *offers = in_zones(*offers, zones_named(node));
    add_machine(node, "server", std::move(spec), std::move(references), std::move(*offers), kBootSeconds);
    return {};
  }

  void add_floating(const ir::Node& node, Json& spec, std::vector<std::string>& references) {
    if (std::string fixed = fixed_public_ip(node, input_.program); !fixed.empty()) {
      spec["public_ip"] = std::move(fixed);
      return;
    }
    std::string pool;
    for (const ir::Network* network : networks_of(input_, node))
      if (network->is_public && pool.empty()) pool = text_wanted(*network, "provider_id");
    const std::string address = part_address("address", node);
    add(address, "floating_ip", "floating address of " + node.address,
        pool.empty() ? Json::object() : Json{{"network", pool}}, {});
    spec["address"] = address;
    references.push_back(address);
    // An address leads to a machine over the router of its network.
  }

  Status add_features(const ir::Node& node, Json& spec, std::vector<std::string>& references) {
    auto image = image_wanted(node, place_.host, place_.egi_site);
    if (!image.ok()) return image.status();
    spec["image"] = image->text;
    if (Status right = check_boot_volume(node, image->text); !right.ok()) return right;
    const std::string user = node.user.empty() ? user_of_image(image->text) : node.user;
    if (!user.empty()) spec["user"] = user;
    // Volumes are made before it is known in which zone there is room.
    const auto zones = zones_named(node);
    if (zones.size() == 1 || (!zones.empty() && has_volumes(node))) spec["zone"] = zones.front();
    if (zones.size() > 1 && spec.contains("zone"))
      note(fmt::format("system '{}': its disks must be in one zone: radlc uses the first of its zones",
                       node.system));
    if (Status added = add_volumes(
            node, {"volume", "volume", "OpenStack", spec.value("zone", ""), {}, {}, existing(), kOwnDisks},
            spec, references);
        !added.ok())
      return added;
    auto stop = auto_stop_wanted(node);
    if (!stop.ok()) return stop.status();
    if (*stop) {
      spec["stop"] = to_json(**stop);
      if ((*stop)->terminate)
        note(
            fmt::format("system '{}': OpenStack shuts off a machine that ends itself; it counts against the "
                        "quota until `radlc destroy` removes it",
                        node.system));
    }
    if (std::string name = text_wanted(node, "instance_name"); !name.empty()) spec["name"] = name;
    auto policy = group_policy(node);
    if (!policy.ok()) return policy.status();
    if (!policy->empty()) add_placement(node, *policy, spec, references);
    if (!is_in_public(node)) note_no_address(node);
    if (!has_floating(node, input_) && !is_in_public(node))
      note(fmt::format(
          "system '{}': it has no public address, so radlc reaches it through a machine of the same network "
          "that has one; if there is none, radlc must reach the private addresses of the network",
          node.system));
    return {};
  }

  std::function<Result<std::string>(const std::string&)> existing() const {
    return [this](const std::string& url) -> Result<std::string> { return volume_in_url(url, place_.host); };
  }

  // A machine that starts from a volume that is there takes it as it is.
  Status check_boot_volume(const ir::Node& node, const std::string& image) {
    if (!names_volume(image)) return {};
    for (const ir::Disk& disk : node.disks)
      if (disk.index == 0 && (disk.size_bytes || !disk.type.empty()))
        return invalid(
            fmt::format("{}: disk.0.{}: the machine starts from an existing volume, which does not change",
                        node.address, disk.size_bytes ? "size" : "type"));
    return claim(node, node.address + ": disk.0.image.url", "volume", image.substr(image.find(':') + 1));
  }

  bool is_in_public(const ir::Node& node) const {
    const auto networks = networks_of(input_, node);
    return std::any_of(networks.begin(), networks.end(),
                       [](const ir::Network* one) { return one->is_public; });
  }

  // One for the nodes of the system.
  void add_placement(const ir::Node& node, const std::string& policy, Json& spec,
                     std::vector<std::string>& references) {
    const std::string address = "placement." + node.system;
    if (placements_.insert(address).second)
      add(address, "server_group", "server group of " + node.system + ", " + policy, {{"policy", policy}},
          {});
    spec["server_group"] = address;
    references.push_back(address);
  }

  const Place& place_;
  std::set<std::string> placements_;
};

// As far as they were looked at. "nova:compute1" names a host of a zone, which administrators may.
Status check_zone(const ir::Node& node, const DesignInput& input) {
  std::vector<std::string> names;
  for (const Json& one : list_of(input.survey.facts, "zones"))
    if (one.is_string()) names.push_back(one.get<std::string>());
  if (names.empty()) return {};
  for (const std::string& zone : zones_named(node)) {
    const std::string plain = zone.substr(0, zone.find(':'));
    if (std::find(names.begin(), names.end(), plain) != names.end()) continue;
    return invalid(
               fmt::format("{}: availability_zone = '{}' is not a zone of this cloud", node.address, zone))
        .with_hint("it has " + join(names, ", "));
  }
  return {};
}

// As far as they were looked at; of the root disk's as well.
Status check_disks(const ir::Node& node, const DesignInput& input) {
  std::vector<std::string> types;
  for (const Json& one : list_of(input.survey.facts, "volume_types"))
    if (one.is_string()) types.push_back(one.get<std::string>());
  for (const ir::Disk& disk : node.disks) {
    const bool own = disk.index > 0 && disk.type == kOwnDisks;
    if (disk.type.empty() || own || (!disk.image_urls.empty() && disk.index > 0) || types.empty()) continue;
    if (std::find(types.begin(), types.end(), disk.type) != types.end()) continue;
    const std::string near = nearest(disk.type, types);
    return invalid(fmt::format("{}: disk.{}.type = '{}' is not a volume type of this cloud", node.address,
                               disk.index, disk.type))
        .with_hint(near.empty() ? "it has " + join(types, ", ") : "did you mean " + near + "?");
  }
  return {};
}

Status check_networks(const ir::Node& node, const DesignInput& input) {
  for (const ir::Network* network : networks_of(input, node))
    if (Status range = check_range(*network); is_made(*network) && !range.ok()) return range;
  if (!says_no(node, "elastic_ip")) return {};
  for (const ir::Network* network : networks_of(input, node))
    if (network->is_public && text_wanted(*network, "provider_id").empty())
      return invalid(
          fmt::format("{}: elastic_ip = 'no': the machine joins the public network {} itself, which needs "
                      "its provider_id",
                      node.address, network->name));
  return {};
}

// Source: Compute API reference, "Server metadata"; Nova configuration reference, quota.metadata_items;
// Networking API reference, `description`.
Status check_names(const ir::Node& node, const DesignInput& input) {
  constexpr size_t kText = 255, kWordAndToken = 40, kLineage = 9;
  const size_t infrastructure = input.program.name.size() + kLineage;
  const TagRules rules{
      .cloud = "OpenStack",
      .key = kText,
      .value = kText,
      .most = 128,
      .own = 8 + node.disks.size(),  // marks.h
      .address = kText - kWordAndToken - kLongestPartOfAddress - std::min<size_t>(infrastructure, kText / 2),
      .allows =
          [](std::string_view text, bool key) {
            return !key || std::all_of(text.begin(), text.end(), [](unsigned char c) {
              return std::isalnum(c) || c == '-' || c == '_' || c == ':' || c == '.' || c == ' ';
            });
          },
      .allowed = "letters, digits, -, _, :, . and spaces"};
  if (Status right = check_tags(node, rules); !right.ok()) return right;
  for (const ir::Network* network : networks_of(input, node))
    if (Status right = check_names_are_free(*network); !right.ok()) return right;
  return {};
}

}  // namespace

bool is_made(const ir::Network& network) {
  return !network.is_public && says_yes(network, "create") && text_wanted(network, "provider_id").empty();
}

std::string fixed_public_ip(const ir::Node& node, const ir::Program& program) {
  if (says_no(node, "elastic_ip")) return "";
  for (const ir::Interface& interface : node.interfaces)
    for (const ir::Network& network : program.networks)
      if (network.name == interface.network && network.is_public && !network.reference &&
          !interface.fixed_ip.empty())
        return interface.fixed_ip;
  return "";
}

std::string region_named(const ir::Node& node) {
  const auto zones = texts_wanted(node, "availability_zone");
  const size_t slash = zones.empty() ? std::string::npos : zones.front().find('/');
  return slash == std::string::npos ? "" : zones.front().substr(0, slash);
}

std::vector<std::string> zones_named(const ir::Node& node) {
  std::vector<std::string> zones = texts_wanted(node, "availability_zone");
  for (std::string& zone : zones)
    if (const size_t slash = zone.find('/'); slash != zone.npos) zone.erase(0, slash + 1);
  return zones;
}

Status check_node(const Place& place, const ir::Node& node, const DesignInput& input) {
  auto image = image_wanted(node, place.host, place.egi_site);
  if (!image.ok()) return image.status();
  if (!image->host.empty() && !place.host.empty() && image->host != place.host)
    return invalid(fmt::format("{}: disk.0.image.url is of the cloud at {}, and the credentials are for {}",
                               node.address, image->host, place.host))
        .with_hint("set OS_CLOUD, or name the cloud in `deploy NAME N CLOUD`");
  if (!image->site.empty() && !place.egi_site.empty() && !equal_ignoring_case(image->site, place.egi_site))
    return invalid(fmt::format("{}: disk.0.image.url is of EGI's site {}, and the credentials are for {}",
                               node.address, image->site, place.egi_site))
        .with_hint("choose another line of the auth file with `deploy NAME N ID`");
  const std::string os = to_lower(text_wanted(node, "disk.0.os.name"));
  if (!os.empty() && os != "linux")
    return invalid(
        fmt::format("{}: disk.0.os.name = '{}': radlc configures Linux machines", node.address, os));
  if (Status right = check_encryption(node); !right.ok()) return right;
  if (Status right = check_zone(node, input); !right.ok()) return right;
  if (Status right = check_networks(node, input); !right.ok()) return right;
  if (Status right = check_disks(node, input); !right.ok()) return right;
  if (auto policy = group_policy(node); !policy.ok()) return policy.status();
  if (Status right = check_names(node, input); !right.ok()) return right;
  if (auto stop = auto_stop_wanted(node); !stop.ok()) return stop.status();
  if (auto fault = host_name_fault(node_host_name(node)))
    return invalid(fmt::format("{}: net_interface.0.dns_name: '{}' is not a host name: {}", node.address,
                               node_host_name(node), fault->message));
  return offers_for(place, node, input).status();
}

Result<Design> design_resources(const Place& place, const DesignInput& input) {
  return Designer(place, input).make();
}

}  // namespace radl::openstack
