#include "runtime/clouds/gce/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/host_name.h"
#include "common/text.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/design_builder.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/gce/disk_types.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/clouds/gce/marks.h"
#include "runtime/clouds/gce/offers.h"
#include "runtime/clouds/gce/survey.h"
#include "runtime/clouds/gce/zones.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/port_rules.h"
#include "runtime/clouds/tag_rules.h"

namespace radl::gce {
namespace {

// Of one value of the metadata (Compute Engine, "About VM metadata").
constexpr size_t kLargestUserData = 262144;
constexpr double kBootSeconds = 40, kRequestSeconds = 6;
constexpr const char* kUsualRange = "10.0.0.0/20";
constexpr const char* kDefault = "default";

bool is_made(const ir::Network& network) {
  return !network.is_public && says_yes(network, "create") && text_wanted(network, "provider_id").empty();
}

// As Compute Engine's paths have it, also where the file has the URL that its tools print.
std::string provider_network(const ir::Network& network) {
  const std::string id = text_wanted(network, "provider_id");
  if (id.starts_with("https://")) return project_path_of(id);
  constexpr std::string_view kPlain = "global/networks/";
  return id.starts_with(kPlain) ? id.substr(kPlain.size()) : id;
}

bool is_public(const ir::Node& node, const DesignInput& input) {
  const auto networks = networks_of(input, node);
  return std::any_of(networks.begin(), networks.end(), [](const ir::Network* one) { return one->is_public; });
}

bool has_disks(const ir::Node& node) {
  return std::any_of(node.disks.begin(), node.disks.end(), is_further_disk);
}

// One of Compute Engine's networks, as a spec means it.
struct Vpc {
  std::string key = kDefault;
  Json spec = Json::object(), interface = Json::object();
  std::vector<std::string> references;  // what is made of it
};

class Designer : private DesignBuilder {
 public:
  Designer(const Place& place, const DesignInput& input)
      : DesignBuilder(place.cloud, input, kRequestSeconds, {kLargestUserData, "Compute Engine"},
                      {"ec2.associate_public_ip_address", "instance_profile"}),
        place_(place) {}

  Result<Design> make() {
    if (input_.nodes.empty()) return Design();
    for (const ir::Network* network : networks_to_make(input_))
      if (is_made(*network)) add_made(*network);
    for (const ir::Node* node : input_.nodes)
      for (const Vpc& vpc : vpcs_of(*node)) add_firewalls(*node, vpc);
    for (const ir::Node* node : input_.nodes)
      if (Status added = add_node(*node); !added.ok()) return added;
    Status room = check_machine_quotas(cloud_, input_, design_, quotas_taken(input_.survey),
                                       "console.cloud.google.com/iam-admin/quotas");
    if (!room.ok()) return room;
    return std::move(design_);
  }

 private:
  std::string access() const { return "access." + cloud_.text(); }

  std::string made_address(const ir::Network& network, const char* what) const {
    return what + network_address(cloud_, input_, network).substr(std::string("network").size());
  }

  void add_made(const ir::Network& network) {
    const std::string net = made_address(network, "net");
    const std::string range = text_wanted(network, "cidr");
    add(net, "network", "network " + network.name, Json::object(), {});
    add(made_address(network, "subnet"), "subnet", "subnet of network " + network.name,
        {{"network", net}, {"cidr", range.empty() ? kUsualRange : range}}, {net});
    add(made_address(network, "router"), "router",
        "router with NAT between network " + network.name + " and the outside", {{"network", net}}, {net});
  }

  Vpc vpc_of(const ir::Network& network) const {
    Vpc vpc;
    if (is_made(network)) {
      vpc.key = made_address(network, "net");
      vpc.spec = {{"made", vpc.key}};
      vpc.interface = {{"made", vpc.key}, {"subnet", made_address(network, "subnet")}};
      vpc.references = {vpc.key, made_address(network, "subnet"), made_address(network, "router")};
    } else if (std::string id = provider_network(network); !id.empty()) {
      vpc.key = id;
      vpc.spec = vpc.interface = {{"provider", id}};
    }
    return vpc;
  }

  // The networks that a machine is in, in the order of its interfaces, each once: a public network without a
  // name of Compute Engine's is an address, not a network.
  std::vector<Vpc> vpcs_of(const ir::Node& node) const {
    std::vector<Vpc> vpcs;
    for (const ir::Interface& interface : node.interfaces) {
      for (const ir::Network* network : networks_of(input_, node)) {
        if (network->name != interface.network) continue;
        Vpc vpc = vpc_of(*network);
        if (network->is_public && vpc.key == kDefault) continue;
        if (!interface.fixed_ip.empty()) vpc.interface["fixed_ip"] = interface.fixed_ip;
        const bool there =
            std::any_of(vpcs.begin(), vpcs.end(), [&](const Vpc& one) { return one.key == vpc.key; });
        if (!there) vpcs.push_back(std::move(vpc));
      }
    }
    if (vpcs.empty()) vpcs.emplace_back();
    return vpcs;
  }

  // Once for each network of Compute Engine that such machines are in; `home`: where it has its plain name.
  std::string firewall_address(const std::string& plain, const std::string& home, const Vpc& vpc) const {
    return vpc.key == home ? plain : plain + "." + vpc.key;
  }

  void add_firewall(const std::string& address, const std::string& summary, const std::string& group,
                    const std::vector<std::string>& rules, const Vpc& vpc) {
    if (!firewalls_.insert(address).second) return;
    add(address, "firewall", summary, {{"network", vpc.spec}, {"group", group}, {"rules", rules}},
        vpc.references);
  }

  void add_firewalls(const ir::Node& node, const Vpc& vpc) {
    std::vector<std::string>& wanted = firewalls_of_[node.address];
    auto note_wanted = [&](const std::string& address) {
      if (std::find(wanted.begin(), wanted.end(), address) == wanted.end()) wanted.push_back(address);
    };
    const std::string login = firewall_address(access(), kDefault, vpc);
    add_firewall(login, "firewall: SSH from this computer", access(), {kSshFromThisComputer}, vpc);
    note_wanted(login);
    for (const ir::Network* network : networks_of(input_, node)) {
      const std::string group = network_address(cloud_, input_, *network), home = vpc_of(*network).key;
      const std::string inside = firewall_address(group, home, vpc);
      add_firewall(inside, "firewall between the machines of " + network->name, group, {kFromThisGroup}, vpc);
      note_wanted(inside);
      note_without_effect(*network, {"router", "dnsserver", "gateway", "proxy_host", "proxy_key", "sg_name"});
      if (!is_made(*network)) note_without_effect(*network, {"create", "cidr"});
      std::map<std::string, std::set<std::string>> by_source;
      for (const ir::PortRule& rule : network->ports) {
        by_source[rule.cidr].insert(rule_text(rule));
        if (rule.remote != rule.local)
          note(fmt::format("network {}: Compute Engine does not map ports: {} is open as {}", network->name,
                           rule.remote, rule.local));
      }
      int number = 0;
      for (const auto& [source, rules] : by_source) {
        const std::string plain = made_address(*network, "ports") + "." + std::to_string(number++);
        const std::string ports = firewall_address(plain, home, vpc);
        add_firewall(ports,
                     fmt::format("firewall: {} port rule{} of {} for {}", rules.size(),
                                 rules.size() == 1 ? "" : "s", network->name, source),
                     group, {rules.begin(), rules.end()}, vpc);
        note_wanted(ports);
      }
    }
    if (vpc.key == kDefault)
      note(
          "the default network of a project allows SSH from everywhere (rule default-allow-ssh) unless that "
          "rule was removed: create = 'yes' creates a network without it");
  }

  Status add_node(const ir::Node& node) {
    std::vector<std::string> groups = {access()}, references = firewalls_of_[node.address];
    for (const ir::Network* network : networks_of(input_, node))
      groups.push_back(network_address(cloud_, input_, *network));
    auto made = machine_spec(node, std::move(groups));
    if (!made.ok()) return made.status();
    Json& spec = *made;
    spec["networks"] = Json::array();
    std::set<std::string> addresses;
    for (Vpc& vpc : vpcs_of(node)) {
      addresses.insert(vpc.interface.value("fixed_ip", ""));
      spec["networks"].push_back(vpc.interface);
      references.insert(references.end(), vpc.references.begin(), vpc.references.end());
    }
    note_fixed_ips(node, addresses);
    auto offers = offers_for(place_, node, input_, has_disks(node));
    if (!offers.ok()) return offers.status();
    if (Status added = add_features(node, *offers, spec, references); !added.ok()) return added;
    add_machine(node, "instance", std::move(spec), std::move(references), std::move(*offers), kBootSeconds);
    return {};
  }

  // A disk is made before it is known which machine comes: its kind is that of the first one.
  static std::string disk_type(const std::vector<Offer>& offers) { return usual_disk(offers.front().name); }

  Status add_features(const ir::Node& node, const std::vector<Offer>& offers, Json& spec,
                      std::vector<std::string>& references) {
    auto image = image_wanted(node);
    if (!image.ok()) return image.status();
    spec["image"] = *image;
    spec["user"] = node.user.empty() ? user_of_image(*image) : node.user;
    if (Status added =
            add_volumes(node,
                        {"disk",
                         "disk",
                         "Compute Engine",
                         zone_of_disks(place_, node, input_),
                         {},
                         disk_type(offers),
                         [](const std::string& url) -> Result<std::string> { return disk_in_url(url); },
                         "",
                         "Compute Engine encrypts every disk with keys of Google's"},
                        spec, references);
        !added.ok())
      return added;
    auto stop = auto_stop_wanted(node);
    if (!stop.ok()) return stop.status();
    if (*stop) spec["stop"] = to_json(**stop);
    if (*stop && (*stop)->idle_seconds > 0)
      note(
          fmt::format("system '{}': Compute Engine stops a machine that is idle, and does not delete it: its "
                      "disks are paid for until `radlc destroy` removes it",
                      node.system));
    if (spec.contains("cloud_init"))
      note(
          fmt::format("system '{}': its recipes for cloud_init need an image that has it: those of Ubuntu "
                      "have it, Google's Debian images do not",
                      node.system));
    if (auto image = image_wanted(node); node.user == "root" && image.ok() && is_published(*image))
      note(fmt::format(
          "system '{}': disk.0.os.credentials.username = 'root': Google's own images do not allow a login as "
          "root (PermitRootLogin no); a login with any other name is created, and may become root",
          node.system));
    if (!text_wanted(node, "instance_name").empty())
      note(fmt::format("system '{}': instance_name has no effect: radlc chooses the names in Compute Engine",
                       node.system));
    add_public(node, spec, references);
    if (const std::string policy = text_wanted(node, "placement_group"); !policy.empty()) {
      const std::string address = "placement." + node.system;
      const char* kind = policy == "spread" ? "spread placement of " : "compact placement of ";
      if (placements_.insert(address).second)
        add(address, "placement", kind + node.system, {{"policy", policy}}, {});
      spec["placement"] = address;
      references.push_back(address);
    }
    return {};
  }

  void add_public(const ir::Node& node, Json& spec, std::vector<std::string>& references) {
    if (!is_public(node, input_)) {
      note_no_address(node);
      note(fmt::format(
          "system '{}': it has no public address, so radlc reaches it through a machine of the same network "
          "that has one, and it reaches the Internet if its network has a NAT (create = 'yes' creates one)",
          node.system));
      return;
    }
    spec["public"] = true;
    if (!says_yes(node, "elastic_ip")) return;
    const std::string address = part_address("address", node);
    add(address, "address", "external address of " + node.address, {{"for", node.address}}, {});
    spec["address"] = address;
    references.push_back(address);
  }

  const Place& place_;
  std::set<std::string> firewalls_, placements_;
  std::map<std::string, std::vector<std::string>> firewalls_of_;  // by node
};

// Source: Compute Engine documentation, "Organize resources using labels", "Requirements for labels".
Status check_labels(const ir::Node& node) {
  return check_tags(node, {.cloud = "Compute Engine",
                           .key = 63,
                           .value = 63,
                           .most = 64,
                           .own = 2,
                           .reserved = {"goog"},
                           .allows = is_label,
                           .allowed = "lower-case letters, digits, - and _, with a letter first in a name"});
}

Status check_provider(const ir::Network& network) {
  const std::string id = provider_network(network), name = last_part(id);
  const bool whole = id == name || (id.starts_with("projects/") && id.ends_with("/global/networks/" + name) &&
                                    std::count(id.begin(), id.end(), '/') == 4);
  if (whole && is_label(name, true) && name.find('_') == name.npos && !name.ends_with('-')) return {};
  return invalid(fmt::format("network {}: provider_id = '{}': must be the NAME of a network, or "
                             "projects/PROJECT/global/networks/NAME",
                             network.name, text_wanted(network, "provider_id")))
      .with_hint("run `gcloud compute networks list --uri` to list networks");
}

// Source: Compute Engine documentation, "Subnets", "Unusable addresses in IPv4 subnet ranges".
constexpr KeptAddresses kKept{2, 2};

Status check_network(const ir::Node& node, const ir::Network& network) {
  if (!text_wanted(network, "provider_id").empty()) return check_provider(network);
  if (!is_made(network)) return {};
  if (Status range = check_range(network); !range.ok()) return range;
  std::string range = text_wanted(network, "cidr");
  if (range.empty()) range = kUsualRange;
  return check_fixed_ips(node, network, range, kKept);
}

}  // namespace

Status check_node(const Place& place, const ir::Node& node, const DesignInput& input) {
  if (auto image = image_wanted(node); !image.ok()) return image.status();
  const std::string os = to_lower(text_wanted(node, "disk.0.os.name"));
  if (!os.empty() && os != "linux")
    return invalid(
        fmt::format("{}: disk.0.os.name = '{}': radlc configures Linux machines", node.address, os));
  if (Status right = check_login_name(node); !right.ok()) return right;
  if (Status right = check_labels(node); !right.ok()) return right;
  if (Status right = check_encryption(node); !right.ok()) return right;
  const std::string placement = text_wanted(node, "placement_group");
  if (!placement.empty() && placement != "cluster" && placement != "spread")
    return invalid(fmt::format("{}: placement_group = '{}': must be cluster or spread in Compute Engine",
                               node.address, placement));
  if (auto stop = auto_stop_wanted(node); !stop.ok()) return stop.status();
  for (const ir::Network* network : networks_of(input, node))
    if (Status right = check_network(node, *network); !right.ok()) return right;
  if (auto fault = host_name_fault(node_host_name(node)))
    return invalid(fmt::format("{}: net_interface.0.dns_name: '{}' is not a host name: {}", node.address,
                               node_host_name(node), fault->message));
  return offers_for(place, node, input, has_disks(node)).status();
}

Result<Design> design_resources(const Place& place, const DesignInput& input) {
  return Designer(place, input).make();
}

}  // namespace radl::gce
