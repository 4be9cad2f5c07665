#include "runtime/clouds/azure/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/digest.h"
#include "common/host_name.h"
#include "common/text.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/azure/images.h"
#include "runtime/clouds/azure/offers.h"
#include "runtime/clouds/azure/places.h"
#include "runtime/clouds/azure/ranges.h"
#include "runtime/clouds/azure/survey.h"
#include "runtime/clouds/design_builder.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/port_rules.h"
#include "runtime/clouds/tag_rules.h"

namespace radl::azure {
namespace {

// Of custom data, before it is encoded (Azure, "Custom data and cloud-init").
constexpr size_t kLargestUserData = 65535;
constexpr double kBootSeconds = 60, kRequestSeconds = 4;
constexpr const char* kDefaultSubnet = "default";

bool is_made(const ir::Network& network) {
  return !network.is_public && says_yes(network, "create") && text_wanted(network, "provider_id").empty();
}

bool is_public(const ir::Node& node, const DesignInput& input) {
  const auto networks = networks_of(input, node);
  return std::any_of(networks.begin(), networks.end(), [](const ir::Network* one) { return one->is_public; });
}

// "lan", "cluster-lan": what Azure takes as a subnet's name.
std::string subnet_name(const ir::Network& network) {
  std::string name;
  for (char c : network.name) name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '-';
  return name == kDefaultSubnet ? name + "-1" : name;
}

// Source: Azure documentation, "Virtual network FAQ".
constexpr KeptAddresses kKept{4, 1};

// Where a machine's interface is.
struct Place {
  std::string subnet = kDefaultSubnet;  // of the network that is made
  std::string provider;                 // or this existing one
  std::string fixed_ip;
};

Result<Place> place_of(const ir::Node& node, const DesignInput& input) {
  Place place;
  for (const ir::Interface& interface : node.interfaces) {
    for (const ir::Network* network : networks_of(input, node)) {
      if (network->name != interface.network) continue;
      if (!text_wanted(*network, "provider_id").empty()) {
        auto subnet = subnet_named(*network);
        if (!subnet.ok()) return subnet.status();
        if (!place.provider.empty() && place.provider != *subnet)
          return invalid(
              fmt::format("{}: a machine in Azure has one virtual network, so it cannot be in both {} and {}",
                          node.address, last_part(place.provider), last_part(*subnet)));
        place.provider = *subnet;
      } else if (is_made(*network) && place.subnet == kDefaultSubnet) {
        place.subnet = subnet_name(*network);
        if (Status right = check_fixed_ips(node, *network, text_wanted(*network, "cidr"), kKept); !right.ok())
          return right;
      } else {
        continue;
      }
      if (place.fixed_ip.empty()) place.fixed_ip = interface.fixed_ip;
    }
  }
  return place;
}

class Designer : private DesignBuilder {
 public:
  Designer(const CloudId& cloud, const DesignInput& input)
      : DesignBuilder(cloud, input, kRequestSeconds, {kLargestUserData, "Azure"},
                      {"ec2.associate_public_ip_address", "instance_profile"}) {}

  Result<Design> make() {
    if (input_.nodes.empty()) return Design();
    add(ours("resource_group"), "resource_group", "resource group of the infrastructure in " + cloud_.region,
        Json::object(), {});
    for (const ir::Node* node : input_.nodes) {
      auto place = place_of(*node, input_);
      if (!place.ok()) return place.status();
      places_[node->address] = std::move(*place);
    }
    if (Status added = add_network(); !added.ok()) return added;
    add_groups();
    for (const ir::Node* node : input_.nodes)
      if (Status added = add_node(*node); !added.ok()) return added;
    Status room = check_machine_quotas(cloud_, input_, design_, quotas_taken(input_.survey),
                                       "portal.azure.com, Quotas, or `az quota update`");
    if (!room.ok()) return room;
    return std::move(design_);
  }

 private:
  // "resource_group.azure:/westeurope": there is one.
  std::string ours(const std::string& what) const { return what + "." + cloud_.text(); }
  std::vector<std::string> in_group() const { return {ours("resource_group")}; }

  // One network for all that have none of their own, with a subnet for each that the file makes.
  Status add_network() {
    std::vector<std::pair<std::string, std::string>> wanted;
    bool inside = false, needs_nat = false;
    for (const ir::Node* node : input_.nodes) {
      const Place& place = places_[node->address];
      if (!place.provider.empty()) continue;
      inside = true;
      needs_nat |= !is_public(*node, input_);
    }
    if (!inside) return {};
    wanted.emplace_back(kDefaultSubnet, "");
    for (const ir::Network* network : networks_to_make(input_))
      if (is_made(*network)) wanted.emplace_back(subnet_name(*network), text_wanted(*network, "cidr"));
    auto ranges = ranges_of(wanted);
    if (!ranges.ok()) return ranges.status();
    Json spec = {{"ranges", ranges->whole}, {"subnets", ranges->subnets}};
    std::vector<std::string> references = in_group();
    if (needs_nat) {
      const std::string address = ours("address"), nat = ours("nat");
      add(address, "address", "public address of the NAT gateway", {{"for", nat}}, in_group());
      add(nat, "nat_gateway", "NAT gateway: outbound access of machines without a public address",
          {{"address", address}}, {ours("resource_group"), address});
      spec["nat"] = nat;
      references.push_back(nat);
      note(
          "machines without a public address reach the Internet through a NAT gateway, which Azure bills by "
          "the hour and by traffic");
    }
    add(ours("net"), "network",
        fmt::format("virtual network with {} subnet{}", ranges->subnets.size(),
                    ranges->subnets.size() == 1 ? "" : "s"),
        std::move(spec), std::move(references));
    return {};
  }

  // Of the machines of a network of the file, once for each virtual network that they are in.
  std::string group_of(const ir::Network& network, const Place& place) const {
    const std::string plain = network_address(cloud_, input_, network);
    // Short: it stands in descriptions of rules, which have 140 characters.
    return place.provider.empty() ? plain
                                  : plain + "." + sha256_hex(network_of_subnet(place.provider)).substr(0, 10);
  }

  void add_groups() {
    Json rules = {{"", {kSshFromThisComputer}}};
    std::vector<std::string> references = in_group();
    for (const ir::Node* node : input_.nodes) {
      for (const ir::Network* network : networks_of(input_, *node)) {
        const std::string address = group_of(*network, places_[node->address]);
        if (rules.contains(address)) continue;
        add(address, "group", "the machines of " + network->name, Json::object(), in_group());
        references.push_back(address);
        rules[address] = network_rules(*network);
        note_without_effect(*network,
                            {"router", "dnsserver", "gateway", "proxy_host", "proxy_key", "sg_name"});
        if (!is_made(*network)) note_without_effect(*network, {"create", "cidr"});
        for (const ir::PortRule& rule : network->ports)
          if (rule.remote != rule.local)
            note(fmt::format("network {}: Azure does not map ports: {} is open as {}", network->name,
                             rule.remote, rule.local));
      }
    }
    const size_t networks = rules.size() - 1;
    add(ours("access"), "security_group",
        fmt::format("security group: SSH from this computer, and the ports of {} network{}", networks,
                    networks == 1 ? "" : "s"),
        {{"rules", std::move(rules)}}, std::move(references));
  }

  // What a machine is reached by: its interface, and its public address where it has one.
  std::string add_interface(const ir::Node& node, std::vector<std::string> groups) {
    const Place& place = places_[node.address];
    std::vector<std::string> references = {ours("resource_group"), ours("access")};
    references.insert(references.end(), groups.begin(), groups.end());
    Json spec = {{"security_group", ours("access")}, {"groups", std::move(groups)}};
    if (place.provider.empty()) {
      spec["subnet"] = {{"made", ours("net")}, {"name", place.subnet}};
      references.push_back(ours("net"));
    } else {
      spec["subnet"] = {{"provider", place.provider}};
    }
    if (!place.fixed_ip.empty()) spec["fixed_ip"] = place.fixed_ip;
    note_fixed_ips(node, {place.fixed_ip});
    if (is_public(node, input_)) {
      const std::string address = part_address("address", node);
      add(address, "address", "public address of " + node.address, {{"for", node.address}}, in_group());
      spec["address"] = address;
      references.push_back(address);
    } else {
      note_no_address(node);
      note(
          fmt::format("system '{}': it has no public address, so radlc reaches it through a machine of the "
                      "same network that has one",
                      node.system));
    }
    const std::string interface = part_address("interface", node);
    add(interface, "interface", "network interface of " + node.address, std::move(spec),
        std::move(references));
    return interface;
  }

  Status add_node(const ir::Node& node) {
    std::vector<std::string> groups, references = in_group();
    for (const ir::Network* network : networks_of(input_, node))
      groups.push_back(group_of(*network, places_[node.address]));
    auto made = machine_spec(node, groups);
    if (!made.ok()) return made.status();
    Json& spec = *made;
    groups = spec["groups"].get<std::vector<std::string>>();
    spec.erase("groups");
    spec["interface"] = add_interface(node, std::move(groups));
    references.push_back(spec["interface"]);
    auto image = image_wanted(node);
    if (!image.ok()) return image.status();
    spec["image"] = *image;
    if (std::string snapshot = snapshot_of(*image); !snapshot.empty()) {
      const std::string address = "image." + node.system;
      if (images_.insert(address).second)
        add(address, "image", "image of snapshot " + last_part(snapshot), {{"snapshot", snapshot}},
            in_group());
      spec["image"] = address;
      references.push_back(address);
    }
    spec["user"] = node.user.empty() ? kUsualUser : node.user;
    const auto zones = zones_for(node);
    const std::string zone = zones.empty() ? "" : zones.front();
    if (zones.size() < zones_named(node).size())
      note(fmt::format("system '{}': its disks must be in one zone: radlc uses the first of its zones",
                       node.system));
    if (Status added = add_volumes(node,
                                   {"disk",
                                    "disk",
                                    "Azure",
                                    zone,
                                    in_group(),
                                    {},
                                    disk_in_url,
                                    "",
                                    "Azure encrypts every managed disk with keys of its own"},
                                   spec, references);
        !added.ok())
      return added;
    if (!text_wanted(node, "instance_name").empty())
      note(fmt::format("system '{}': instance_name has no effect: radlc chooses the names in Azure",
                       node.system));
    if (text_wanted(node, "placement_group") == "cluster") {
      const std::string address = "placement." + node.system;
      if (placements_.insert(address).second)
        add(address, "placement", "proximity placement group of " + node.system, {{"policy", "cluster"}},
            in_group());
      spec["placement"] = address;
      references.push_back(address);
    }
    auto offers = offers_for(cloud_, node, input_);
    if (!offers.ok()) return offers.status();
    add_machine(node, "machine", std::move(spec), std::move(references), std::move(*offers), kBootSeconds);
    return {};
  }

  std::map<std::string, Place> places_;  // by node
  std::set<std::string> images_, placements_;
};

// Source: Azure Resource Manager documentation, "Use tags to organize your Azure resources", "Limitations".
Status check_resource_tags(const ir::Node& node) {
  const TagRules rules{.cloud = "Azure",
                       .key = 512,
                       .value = 256,
                       .most = 50,
                       .own = 4,  // tags_for() and the login's key
                       .address = 256 - kLongestPartOfAddress,
                       .reserved = {"microsoft", "azure", "windows", "hidden-"},
                       .allows = [](std::string_view text,
                                    bool key) { return !key || text.find_first_of("<>%&\\?/") == text.npos; },
                       .allowed = "anything but <>%&\\?/",
                       .ignores_case = true};
  return check_tags(node, rules);
}

// Azure makes no such logins.
bool is_reserved(const std::string& user) {
  // Azure REST API reference, "Virtual Machines - Create Or Update", osProfile.adminUsername.
  static const std::set<std::string> kReserved = {
      "1",      "123",           "a",      "actuser", "adm",     "admin",   "admin1",
      "admin2", "administrator", "aspnet", "backup",  "console", "david",   "guest",
      "john",   "owner",         "root",   "server",  "sql",     "support", "support_388945a0",
      "sys",    "test",          "test1",  "test2",   "test3",   "user",    "user1",
      "user2",  "user3",         "user4",  "user5"};
  return kReserved.count(to_lower(user)) > 0;
}

}  // namespace

Status check_node(const CloudId& cloud, const ir::Node& node, const DesignInput& input) {
  if (auto image = image_wanted(node); !image.ok()) return image.status();
  const std::string os = to_lower(text_wanted(node, "disk.0.os.name"));
  if (!os.empty() && os != "linux")
    return invalid(
        fmt::format("{}: disk.0.os.name = '{}': radlc configures Linux machines", node.address, os));
  if (is_reserved(node.user))
    return invalid(
        fmt::format("{}: disk.0.os.credentials.username = '{}': Azure does not allow this login name",
                    node.address, node.user));
  if (Status right = check_login_name(node); !right.ok()) return right;
  if (Status right = check_resource_tags(node); !right.ok()) return right;
  if (Status right = check_encryption(node); !right.ok()) return right;
  const std::string placement = text_wanted(node, "placement_group");
  if (!placement.empty() && placement != "cluster")
    return invalid(
        fmt::format("{}: placement_group = '{}': must be cluster in Azure", node.address, placement));
  auto stop = auto_stop_wanted(node);
  if (!stop.ok()) return stop.status();
  if (*stop)
    return invalid(fmt::format("{}: stop.{}: Azure bills a machine that shuts itself down until it is "
                               "deallocated or deleted",
                               node.address, (*stop)->after_seconds > 0 ? "after" : "idle"))
        .with_hint("remove it, and run `radlc destroy` when the work is done");
  if (auto fault = host_name_fault(node_host_name(node)))
    return invalid(fmt::format("{}: net_interface.0.dns_name: '{}' is not a host name: {}", node.address,
                               node_host_name(node), fault->message));
  if (auto place = place_of(node, input); !place.ok()) return place.status();
  return offers_for(cloud, node, input).status();
}

Result<Design> design_resources(const CloudId& cloud, const DesignInput& input) {
  return Designer(cloud, input).make();
}

}  // namespace radl::azure
