#include "runtime/clouds/ec2/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/host_name.h"
#include "common/text.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/design_builder.h"
#include "runtime/clouds/ec2/api.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/ec2/offers.h"
#include "runtime/clouds/ec2/placing.h"
#include "runtime/clouds/ec2/quotas.h"
#include "runtime/clouds/ec2/rules.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/tag_rules.h"
#include "runtime/clouds/wishes.h"

namespace radl::ec2 {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kBootSeconds = 45, kRequestSeconds = 1;
constexpr size_t kGroupsOfAMachine = 5;  // Amazon VPC quotas, "Security groups per network interface"

// Before it is encoded (Amazon EC2 User Guide, "Run commands when you launch an EC2 instance").
constexpr size_t kLargestUserData = 16384;

std::string access_address(const CloudId& cloud) { return "access." + cloud.text(); }

Json disk_spec(const ir::Disk& disk) {
  Json spec = Json::object();
  if (disk.size_bytes) spec["size_gib"] = static_cast<long long>(std::ceil(*disk.size_bytes / kGiB));
  if (!disk.type.empty()) spec["type"] = disk.type;
  return spec;
}

std::string device_name(const ir::Disk& disk) { return std::string("/dev/sd") + device_letter(disk); }

Status add_disks(const ir::Node& node, Json& spec) {
  for (const ir::Disk& disk : node.disks) {
    Json made = disk_spec(disk);
    const Encryption encryption = encryption_wanted(node, disk.index);
    if (encryption.wanted) made["encrypted"] = true;
    if (!encryption.key.empty()) made["encryption_key"] = encryption.key;
    if (disk.index == 0) {
      if (const long long free = free_disk_wanted(node); free > 0) made["free_gib"] = free;
      if (!made.empty()) spec["root"] = std::move(made);
      continue;
    }
    for (const std::string& url : disk.image_urls) {
      const std::string id = url.substr(url.rfind('/') == url.npos ? 0 : url.rfind('/') + 1);
      if (!id.starts_with("snap-"))
        return invalid(
            fmt::format("{}: disk.{}.image.url = '{}': a further disk is made of a snapshot "
                        "(aws://REGION/snap-...)",
                        node.address, disk.index, url));
      made["snapshot"] = id;
    }
    if (!disk.size_bytes && !made.contains("snapshot") && disk.type.empty()) continue;
    made["device"] = device_name(disk);
    spec["disks"].push_back(std::move(made));
  }
  return {};
}

class Designer : private DesignBuilder {
 public:
  Designer(const CloudId& cloud, const DesignInput& input)
      : DesignBuilder(cloud, input, kRequestSeconds, {kLargestUserData, "EC2"}) {}

  Result<Design> make() {
    if (input_.nodes.empty()) return Design();
    add(key_address(cloud_), "key_pair", "ed25519 key pair for SSH", {{"type", "ed25519"}}, {});
    auto known = vpcs_of(input_, cloud_.region);
    if (!known.ok()) return known.status();
    vpcs_ = std::move(*known);
    std::set<std::string> vpcs;
    for (const ir::Node* node : input_.nodes) {
      auto place = place_of(*node, input_, cloud_, vpcs_);
      if (!place.ok()) return place.status();
      vpcs.insert(place->vpc);
    }
    for (const std::string& vpc : vpcs) add_access(vpc);
    for (const ir::Network* network : networks_to_make(input_))
      if (Status added = add_network(*network); !added.ok()) return added;
    for (const ir::Node* node : input_.nodes)
      if (Status added = add_node(*node); !added.ok()) return added;
    for (const std::string& text : quota_notes(cloud_, design_, input_.survey)) note(text);
    return std::move(design_);
  }

 private:
  static std::string access_in(const CloudId& cloud, const std::string& vpc) {
    return access_address(cloud) + (vpc.empty() ? "" : "/" + vpc);
  }

  void add_access(const std::string& vpc) {
    Json spec = {{"description", "SSH from the computer that runs radlc"}, {"rules", {kSshFromThisComputer}}};
    if (!vpc.empty()) spec["vpc"] = vpc;
    add(access_in(cloud_, vpc), "security_group", "security group: SSH from this computer", std::move(spec),
        {});
  }

  Status add_network(const ir::Network& network) {
    const std::string& vpc = vpcs_[network.name];
    for (const ir::PortRule& rule : network.ports) {
      if (rule.remote != rule.local)
        note(fmt::format("network {}: EC2 maps no ports: {} is open as {}", network.name, rule.remote,
                         rule.local));
    }
    note_without_effect(network, {"cidr", "router", "dnsserver", "gateway", "proxy_host", "proxy_key"});
    Json spec = {{"description", "network " + network.name}, {"rules", network_rules(network)}};
    if (network.features->contains("sg_name") && network.features["sg_name"].is_string())
      spec["name"] = network.features["sg_name"];
    if (!vpc.empty()) spec["vpc"] = vpc;
    if (says_yes(network, "create"))
      note(fmt::format("network {}: no VPC is made for it: a network is a security group in {}", network.name,
                       vpc.empty() ? "the region's default VPC" : vpc));
    const size_t ports = network.ports.size();
    add(network_address(cloud_, input_, network), "security_group",
        fmt::format("security group of {}, {} port rule{}",
                    network.is_public ? "a public network" : "a private network", ports,
                    ports == 1 ? "" : "s"),
        std::move(spec), {});
    return {};
  }

  Status add_node(const ir::Node& node) {
    auto place = place_of(node, input_, cloud_, vpcs_);
    if (!place.ok()) return place.status();
    std::vector<std::string> groups = {access_in(cloud_, place->vpc)};
    for (const ir::Network* network : networks_of(input_, node))
      groups.push_back(network_address(cloud_, input_, *network));
    if (groups.size() > kGroupsOfAMachine)
      return invalid(
          fmt::format("{}: it is in {} networks; EC2 takes {} security groups a machine, one of them "
                      "for SSH",
                      node.address, groups.size() - 1, kGroupsOfAMachine));
    std::vector<std::string> references = {key_address(cloud_)};
    references.insert(references.end(), groups.begin(), groups.end());
    auto made = machine_spec(node, std::move(groups));
    if (!made.ok()) return made.status();
    Json& spec = *made;
    spec["public"] = is_public(node, *place);
    if (Status added = add_features(node, *place, spec, references); !added.ok()) return added;
    auto offers = offers_for(cloud_, node, input_);
    if (!offers.ok()) return offers.status();
    add_machine(node, "instance", std::move(spec), std::move(references), std::move(*offers), kBootSeconds);
    return {};
  }

  // The default VPC has no other way out to the internet, from where packages and data come.
  bool is_public(const ir::Node& node, const NodePlace& place) {
    constexpr const char* kAsked = "ec2.associate_public_ip_address";
    if (place.in_public_network || says_yes(node, kAsked)) return true;
    if (says_no(node, kAsked) || !place.vpc.empty() || !place.subnet.empty()) {
      note(fmt::format(
          "system '{}' has no public address. radlc connects through a node of the same network that "
          "has one; if there is none, it must reach the VPC's private addresses, by a VPN or from a "
          "machine in the VPC",
          node.system));
      return false;
    }
    note(
        fmt::format("system '{}' gets a public address, though its network is private: the default VPC has "
                    "no other route to "
                    "the internet. Only SSH from this computer and the file's outports are allowed in",
                    node.system));
    return true;
  }

  Status add_features(const ir::Node& node, const NodePlace& place, Json& spec,
                      std::vector<std::string>& references) {
    if (!place.vpc.empty()) spec["vpc"] = place.vpc;
    if (!place.subnet.empty()) spec["subnet"] = place.subnet;
    if (!place.subnets_unused.empty())
      note(fmt::format("system '{}': an instance has one interface, which is in {} and not in {}",
                       node.system, place.subnet, join(place.subnets_unused, ", ")));
    if (place.zones.size() == 1)
      spec["zone"] = place.zones.front();
    else if (!place.zones.empty())
      spec["zones"] = place.zones;
    auto image = image_wanted(node, "x86_64", cloud_.region);
    if (!image.ok()) return image.status();
    spec["image"] = image->text;
    const std::string user = node.user.empty() ? user_of_image(image->text) : node.user;
    if (!user.empty()) spec["user"] = user;
    if (Status added = add_disks(node, spec); !added.ok()) return added;
    for (const std::string& text : disk_notes(node)) note(text);
    auto stop = auto_stop_wanted(node);
    if (!stop.ok()) return stop.status();
    if (*stop) spec["stop"] = to_json(**stop);
    if (std::string profile = text_wanted(node, "instance_profile"); !profile.empty())
      spec["profile"] = profile;
    if (std::string name = text_wanted(node, "instance_name"); !name.empty()) spec["tags"]["Name"] = name;
    if (std::string group = text_wanted(node, "placement_group"); !group.empty())
      add_placement(node, group, spec, references);
    if (says_yes(node, "elastic_ip")) {
      const std::string address = part_address("address", node);
      add(address, "elastic_ip", "elastic address of " + node.address, Json::object(), {});
      spec["address"] = address;
      references.push_back(address);
    }
    note_fixed_ips(node, {});
    return {};
  }

  // placement_group = 'cluster' | 'spread' | 'partition': one for the nodes of the system.
  void add_placement(const ir::Node& node, const std::string& strategy, Json& spec,
                     std::vector<std::string>& references) {
    const std::string address = "placement." + node.system;
    if (placements_.insert(address).second)
      add(address, "placement_group", strategy + " placement group of " + node.system,
          {{"strategy", strategy}}, {});
    spec["placement_group"] = address;
    references.push_back(address);
  }

  std::set<std::string> placements_;
  NetworkVpcs vpcs_;
};

Status check_placement(const ir::Node& node) {
  const std::string group = text_wanted(node, "placement_group");
  if (group.empty() || group == "cluster" || group == "spread" || group == "partition") return {};
  return invalid(
      fmt::format("{}: placement_group = '{}': must be cluster, spread or partition", node.address, group));
}

// Source: Amazon EC2 User Guide, "Tag your Amazon EC2 resources", "Tag restrictions".
Status check_names(const ir::Node& node, const DesignInput& input) {
  const TagRules rules{.cloud = "EC2",
                       .key = 128,
                       .value = kLongestTagValue,
                       .most = 50,
                       .own = 6,  // own_tags(), the login and its key
                       .address = kLongestTagValue - kLongestPartOfAddress,
                       .reserved = {"aws:"}};
  if (Status right = check_tags(node, rules); !right.ok()) return right;
  for (const ir::Network* network : networks_of(input, node))
    if (Status right = check_names_are_free(*network); !right.ok()) return right;
  auto tags = tags_wanted(node);
  const std::string name = text_wanted(node, "instance_name");
  if (name.empty() || !tags->contains("Name") || tags->at("Name") == name) return {};
  return invalid(fmt::format("{}: instance_name = '{}' and the tag Name = '{}' are one name in EC2",
                             node.address, name, tags->at("Name").get<std::string>()))
      .with_hint("keep one of them");
}

}  // namespace

Status check_node(const CloudId& cloud, const ir::Node& node, const DesignInput& input) {
  if (auto place = place_of(node, input, cloud); !place.ok()) return place.status();
  auto image = image_wanted(node, "x86_64", cloud.region);
  if (!image.ok()) return image.status();
  if (!image->region.empty() && image->region != cloud.region)
    return invalid(fmt::format("{}: disk.0.image.url is of region {}, and the machine is to be in {}",
                               node.address, image->region, cloud.region));
  const std::string os = to_lower(text_wanted(node, "disk.0.os.name"));
  if (!os.empty() && os != "linux")
    return invalid(
        fmt::format("{}: disk.0.os.name = '{}': radlc configures Linux machines", node.address, os));
  if (Status right = check_placement(node); !right.ok()) return right;
  if (Status right = check_names(node, input); !right.ok()) return right;
  if (Status right = check_encryption(node); !right.ok()) return right;
  if (auto stop = auto_stop_wanted(node); !stop.ok()) return stop.status();
  if (auto fault = host_name_fault(node_host_name(node)))
    return invalid(fmt::format("{}: net_interface.0.dns_name: '{}' is not a host name: {}", node.address,
                               node_host_name(node), fault->message));
  return offers_for(cloud, node, input).status();
}

Result<Design> design_resources(const CloudId& cloud, const DesignInput& input) {
  return Designer(cloud, input).make();
}

}  // namespace radl::ec2
