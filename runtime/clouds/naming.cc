#include "runtime/clouds/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "common/human.h"

namespace radl {

std::string key_address(const CloudId& cloud) { return "key." + cloud.text(); }

std::string network_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network) {
  return input.plain_names ? network.address : network.address + "@" + cloud.text();
}

std::string group_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network) {
  std::string address = "group." + network.name;
  return input.plain_names ? address : address + "@" + cloud.text();
}

std::string part_address(const std::string& kind, const ir::Node& node, int index) {
  std::string address = kind + "." + node.address;
  return index < 0 ? address : address + "." + std::to_string(index);
}

std::string node_host_name(const ir::Node& node) {
  std::string host = "vnode-" + std::to_string(node.number), domain = "localdomain";
  if (!node.interfaces.empty()) {
    if (!node.interfaces[0].host_name.empty()) host = node.interfaces[0].host_name;
    if (!node.interfaces[0].domain.empty()) domain = node.interfaces[0].domain;
  }
  return host + "." + domain;
}

Json further_host_names(const ir::Node& node) {
  Json names = Json::array();
  for (const ir::Interface& interface : node.interfaces) {
    if (interface.index == 0 || interface.host_name.empty()) continue;
    names.push_back(interface.host_name + "." +
                    (interface.domain.empty() ? "localdomain" : interface.domain));
  }
  return names;
}

char device_letter(const ir::Disk& disk) {
  return disk.device.empty() ? static_cast<char>('a' + disk.index) : disk.device.back();
}

std::vector<std::string> disk_notes(const ir::Node& node) {
  std::vector<std::string> notes;
  for (const ir::Disk& disk : node.disks) {
    if (disk.index == 0 || disk.mount_path.empty()) continue;
    const std::string start = "system '" + node.system + "': disk " + std::to_string(disk.index) + " is ";
    if (disk.device.empty() || disk.fstype.empty())
      notes.push_back(start + "attached as /dev/sd" + device_letter(disk) +
                      " and not mounted: that needs its device and fstype too");
    else if (disk.fstype != "swap")
      notes.push_back(start + "formatted as " + disk.fstype +
                      " where it carries no file system, and mounted at " + disk.mount_path);
  }
  return notes;
}

std::vector<const ir::Network*> networks_to_make(const DesignInput& input) {
  std::set<std::string> used;
  for (const ir::Node* node : input.nodes) {
    for (const ir::Interface& interface : node->interfaces) used.insert(interface.network);
  }
  std::vector<const ir::Network*> networks;
  for (const ir::Network& network : input.program.networks) {
    if (!network.reference && used.count(network.name)) networks.push_back(&network);
  }
  return networks;
}

std::vector<const ir::Network*> networks_of(const DesignInput& input, const ir::Node& node) {
  std::vector<const ir::Network*> networks;
  for (const ir::Interface& interface : node.interfaces) {
    auto network = std::find_if(input.program.networks.begin(), input.program.networks.end(),
                                [&](const ir::Network& known) { return known.name == interface.network; });
    if (network == input.program.networks.end() || network->reference) continue;
    if (std::find(networks.begin(), networks.end(), &*network) == networks.end())
      networks.push_back(&*network);
  }
  return networks;
}

Json network_spec(const ir::Network& network) {
  Json ports = Json::array();
  for (const ir::PortRule& rule : network.ports) {
    ports.push_back({{"protocol", rule.protocol},
                     {"cidr", rule.cidr},
                     {"remote", rule.remote},
                     {"remote_end", rule.remote_end},
                     {"local", rule.local},
                     {"local_end", rule.local_end}});
  }
  return {{"name", network.name},
          {"public", network.is_public},
          {"ports", ports},
          {"features", network.features}};
}

Status check_login_name(const ir::Node& node) {
  constexpr size_t kLongest = 32;  // useradd(8)
  const std::string& user = node.user;
  const bool right =
      std::all_of(user.begin(), user.end(),
                  [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; }) &&
      (user.empty() || std::isalpha(static_cast<unsigned char>(user.front())) || user.front() == '_');
  if (right && user.size() <= kLongest) return {};
  return invalid(
             fmt::format("{}: disk.0.os.credentials.username = '{}': Linux does not allow this login name",
                         node.address, user))
      .with_hint("use at most 32 letters, digits, -, _ and ., with a letter or _ first");
}

std::string network_summary(const ir::Network& network) {
  std::string text = network.is_public ? "public network" : "private network";
  if (network.ports.empty()) return text;
  return text + ", " + std::to_string(network.ports.size()) +
         (network.ports.size() == 1 ? " port rule" : " port rules");
}

std::string node_summary(const ir::Node& node, const std::string& cloud, const Offer& offer) {
  std::string text = cloud;
  if (!offer.name.empty() && offer.name != cloud) text += " " + offer.name;
  // What the type has where that is known: it may be more than what the file asks for.
  auto amount = [&](const char* feature, double has) -> std::optional<double> {
    if (offer.facts.cpu > 0) return has;
    auto wanted = node.requirements.find(feature);
    if (wanted == node.requirements.end()) return std::nullopt;
    return wanted->second.min ? wanted->second.min : wanted->second.max;
  };
  if (auto count = amount("cpu.count", offer.facts.cpu)) text += ", " + plain_number(*count) + " cpu";
  if (auto size = amount("memory.size", offer.facts.memory_bytes)) text += ", " + size_text(*size);
  if (auto count = amount("gpu.count", offer.facts.gpu); count && *count > 0)
    text += ", " + plain_number(*count) + " gpu";
  std::set<std::string> seen;
  for (const ir::Interface& interface : node.interfaces) {
    if (seen.insert(interface.network).second)
      text += (seen.size() == 1 ? ", in " : " and ") + interface.network;
  }
  return text;
}

}  // namespace radl
