#include "runtime/clouds/simulated/design.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/host_name.h"
#include "common/human.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/design_builder.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/simulated/fitting.h"
#include "runtime/clouds/simulated/prices.h"
#include "runtime/clouds/tag_rules.h"
#include "runtime/clouds/wishes.h"

namespace radl::simulated {
namespace {

constexpr size_t kLargestUserData = 65536;
constexpr size_t kTypesOffered = 2;  // the dearer ones would be surprises
constexpr const char* kDefaultImage = "linux";

bool has_group(const ir::Network& network) { return network.is_public || !network.ports.empty(); }

class Designer : private DesignBuilder {
 public:
  Designer(const CloudId& cloud, double boot, const DesignInput& input)
      : DesignBuilder(cloud, input, boot / 10, {kLargestUserData, "the simulated cloud"}), boot_(boot) {
    if (input.survey.facts.contains("sold_out")) sold_out_ = input.survey.facts.at("sold_out");
  }

  Result<Design> make() {
    if (input_.nodes.empty()) return Design();
    add_key();
    for (const ir::Network* network : networks_to_make(input_)) add_network(*network);
    for (const ir::Node* node : input_.nodes) {
      if (Status added = add_node(*node); !added.ok()) return added;
    }
    return std::move(design_);
  }

 private:
  void add_key() {
    add(key_address(cloud_), "key_pair", "ed25519 key pair for SSH", {{"type", "ed25519"}}, {});
  }

  void add_network(const ir::Network& network) {
    std::string address = network_address(cloud_, input_, network);
    Json spec = network_spec(network);
    Json rules = spec["ports"];
    spec.erase("ports");
    add(address, "network", network.is_public ? "public network" : "private network", std::move(spec), {});
    if (has_group(network)) {
      add(group_address(cloud_, input_, network), "security_group", group_summary(network),
          {{"network", address}, {"rules", std::move(rules)}}, {address});
    }
  }

  static std::string group_summary(const ir::Network& network) {
    return fmt::format(
        "security group of {}, {}", network.name,
        network.ports.size() == 1 ? "1 port rule" : fmt::format("{} port rules", network.ports.size()));
  }

  Status add_node(const ir::Node& node) {
    std::vector<std::string> references = {key_address(cloud_)};
    Json networks = Json::array(), volumes = Json::array();
    bool is_public = false;
    for (const ir::Network* network : networks_of(input_, node)) {
      std::string address = network_address(cloud_, input_, *network);
      networks.push_back(address);
      references.push_back(address);
      if (has_group(*network)) references.push_back(group_address(cloud_, input_, *network));
      is_public |= network->is_public;
    }
    for (const ir::Disk& disk : node.disks) {
      if (disk.index == 0 || !disk.size_bytes) continue;
      std::string address = part_address("volume", node, disk.index);
      add_volume(address, disk);
      volumes.push_back(address);
      references.push_back(address);
    }
    std::string public_address;
    if (is_public) {
      public_address = part_address("address", node);
      add_public_address(public_address, node);
      references.push_back(public_address);
    }
    std::string image = text_wanted(node, "disk.0.image.url");
    Json spec = {{"hostname", node_host_name(node)},
                 {"image", image.empty() ? kDefaultImage : image},
                 {"networks", std::move(networks)},
                 {"volumes", std::move(volumes)},
                 {"user", node.user.empty() ? "radl" : node.user}};
    auto tags = tags_wanted(node);
    if (!tags.ok()) return tags.status();
    if (!tags->empty()) spec["tags"] = std::move(*tags);
    if (!public_address.empty()) spec["address"] = public_address;
    if (market_wanted(node) == Market::Spot) spec["spot"] = true;
    auto stop = auto_stop_wanted(node);
    if (stop.ok() && *stop) spec["stop"] = to_json(**stop);
    if (Status added = add_recipes(node, spec); !added.ok()) return added;
    for (const ir::Interface& interface : node.interfaces) {
      if (!interface.fixed_ip.empty()) spec["fixed_ips"][interface.network] = interface.fixed_ip;
    }
    auto offers = offers_for(node);
    if (!offers.ok()) return offers.status();
    Wanted& wanted = add(node.address, "instance", node_summary(node, cloud_.text(), offers->front()),
                         std::move(spec), std::move(references));
    wanted.offers = std::move(*offers);
    wanted.node = node.address;
    wanted.seconds = boot_;
    if (std::string text = gpu_note(node); !text.empty()) note(text);
    return {};
  }

  void add_volume(const std::string& address, const ir::Disk& disk) {
    Json spec = {{"size_bytes", *disk.size_bytes}};
    if (!disk.type.empty()) spec["type"] = disk.type;
    Wanted& wanted = add(address, "volume", size_text(*disk.size_bytes) + " volume", std::move(spec), {});
    wanted.offers = {{"volume", "", volume_price(cloud_.region, *disk.size_bytes / kGiB), Json::object()}};
  }

  void add_public_address(const std::string& address, const ir::Node& node) {
    Wanted& wanted = add(address, "address", "public address of " + node.address, Json::object(), {});
    wanted.offers = {{"address", "", address_price(cloud_.region), Json::object()}};
  }

  Result<std::vector<Offer>> offers_for(const ir::Node& node) const {
    auto machines = fitting_machines(node, cloud_.region);
    if (!machines.ok()) return machines.status();
    auto zones = fitting_zones(node);
    if (!zones.ok()) return zones.status();
    std::vector<Offer> offers;
    for (size_t i = 0; i < std::min(machines->size(), kTypesOffered); ++i) {
      for (std::string_view zone : *zones) {
        Offer& offer = offers.emplace_back(offer_of(*(*machines)[i], market_wanted(node)));
        offer.zone = zone;
        offer.spec["zone"] = zone;
      }
    }
    std::stable_partition(offers.begin(), offers.end(),
                          [&](const Offer& offer) { return !is_sold_out(offer); });
    return offers;
  }

  // By the survey, when one was taken.
  bool is_sold_out(const Offer& offer) const {
    return std::find(sold_out_.begin(), sold_out_.end(), offer.name + "/" + offer.zone) != sold_out_.end();
  }

  double boot_;
  Json sold_out_ = Json::array();
};

}  // namespace

Status check_node(const CloudId& cloud, const ir::Node& node) {
  if (auto machines = fitting_machines(node, cloud.region); !machines.ok()) return machines.status();
  if (auto zones = fitting_zones(node); !zones.ok()) return zones.status();
  if (Status free = check_names_are_free(node); !free.ok()) return free;
  if (auto stop = auto_stop_wanted(node); !stop.ok()) return std::move(stop).status();
  if (auto fault = host_name_fault(node_host_name(node))) {
    return invalid(fmt::format("{}: net_interface.0.dns_name: '{}' is not a host name: {}", node.address,
                               node_host_name(node), fault->message));
  }
  return {};
}

Result<Design> design_resources(const CloudId& cloud, double boot, const DesignInput& input) {
  return Designer(cloud, boot, input).make();
}

Impact impact_of(const std::string& type, const Json& before, const Json& after) {
  auto differs = [&](const char* field) { return before.value(field, Json()) != after.value(field, Json()); };
  if (before == after) return {Impact::Kind::InPlace, ""};
  auto replace = [](std::string why) { return Impact{Impact::Kind::Replace, std::move(why)}; };
  if (type == "key_pair") return replace("a key pair is never changed");
  if (type == "network") {
    if (differs("public") || differs("name"))
      return replace("a network's name and kind are fixed when it is made");
  } else if (type == "security_group") {
    if (differs("network")) return replace("a security group stays in its network");
  } else if (type == "volume") {
    if (differs("type")) return replace("a volume's type is fixed when it is made");
    if (after.value("size_bytes", 0.0) < before.value("size_bytes", 0.0))
      return replace("a volume never shrinks");
  } else if (type == "instance") {
    if (differs("image")) return replace("a machine keeps its image");
    if (differs("user")) return replace("the login is fixed when the machine is created");
    if (differs("cloud_init")) return replace(kUserDataIsFixed);
    if (differs("hostname")) return replace("the host name is fixed when the machine is created");
    if (differs("zone")) return replace("a machine stays in its zone");
    if (differs("networks") || differs("fixed_ips")) return replace("a machine stays in its networks");
    if (differs("stop")) return replace("auto-stop is set up when the machine is made");
    if (differs("spot")) return replace("a machine is bought as spot or not");
    if (differs("type")) return {Impact::Kind::Restart, "the machine is stopped to change its type"};
  }
  return {Impact::Kind::InPlace, ""};
}

}  // namespace radl::simulated
