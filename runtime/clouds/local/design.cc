#include "runtime/clouds/local/design.h"
#include "runtime/clouds/local/gpus.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "common/host_name.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/tag_rules.h"
#include "runtime/clouds/wishes.h"

namespace radl::local {
namespace {

std::optional<double> number_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.requirements.find(feature);
  return found == node.requirements.end() ? std::nullopt : found->second.min;
}

// Absolute, without a step upwards, and with nothing that a shell or a mount would understand.
bool is_plain_path(const std::string& path) {
  bool good = path.size() > 1 && path[0] == '/' && !goes_up(path);
  for (char c : path)
    good &= std::isalnum(static_cast<unsigned char>(c)) ||
            std::string_view("/._-+@").find(c) != std::string_view::npos;
  return good;
}

// An x86_64 computer also runs i386 programs.
bool is_own_processor(const std::string& wanted) {
  utsname own{};
  if (uname(&own) != 0) return false;
  const std::string name = architecture_name(own.machine), asked = architecture_name(wanted);
  return asked == name || (asked == "i386" && name == "x86_64");
}

// What a system asks for that this machine has no notion of; "" when there is nothing.
std::string without_use(const ir::Node& node) {
  constexpr std::string_view kUsed[] = {"cpu.", "memory.", "net_interface.", "disk.",
                                        "gpu.", "stop.",   "prevent_destroy"};
  const std::vector<std::string> ignored = features_without_effect(node);
  std::string names;
  for (const auto& requirement : node.requirements) {
    const std::string& feature = requirement.first;
    bool used = std::any_of(std::begin(kUsed), std::end(kUsed),
                            [&](std::string_view prefix) { return feature.starts_with(prefix); });
    const bool encryption = feature.starts_with("disk.") &&
                            (feature.ends_with(".encrypted") || feature.ends_with(".encryption_key"));
    const bool other_processor = feature == "cpu.arch" && !is_own_processor(text_wanted(node, feature));
    if (!used || encryption || other_processor || feature == "cpu.performance" ||
        feature.starts_with("disk.0.image.") ||
        std::find(ignored.begin(), ignored.end(), feature) != ignored.end())
      names += (names.empty() ? "" : ", ") + feature;
  }
  return names;
}

std::string not_a_host_name(size_t interface, const std::string& name, const HostNameFault& fault) {
  return fmt::format("net_interface.{}.dns_name: '{}' is not a host name: {}", interface, name,
                     fault.message);
}

// A node's host name, or that of a further interface; "" where that has none.
std::string full_host_name(const ir::Node& node, size_t interface) {
  const bool known = interface < node.interfaces.size();
  std::string host = known ? node.interfaces[interface].host_name : "";
  if (host.empty() && interface > 0) return "";
  if (host.empty()) host = "vnode-" + std::to_string(node.number);
  const std::string domain = known ? node.interfaces[interface].domain : "";
  return host + "." + (domain.empty() ? "localdomain" : domain);
}

bool is_mounted(const ir::Disk& disk) {
  return !disk.mount_path.empty() && !disk.device.empty() && !disk.fstype.empty() && disk.fstype != "swap";
}

// The spec of a node, and what the reviewer should know of it.
struct NodeDesign {
  Json spec = Json::object();
  std::vector<std::string> notes;
};

class NodeDesigner {
 public:
  explicit NodeDesigner(const ir::Node& node) : node_(node) {}

  // Separate from the design, because each node of a plan is requested twice.
  Status check() const {
    const std::string os = to_lower(text_wanted(node_, "disk.0.os.name"));
    if (!os.empty() && os != "linux")
      return cannot(
          fmt::format("disk.0.os.name = '{}': cloud local creates nodes on this Linux computer", os));
    for (size_t i = 0; i == 0 || i < node_.interfaces.size(); ++i) {
      const std::string name = full_host_name(node_, i);
      if (name.empty()) continue;
      if (auto fault = host_name_fault(name)) return cannot(not_a_host_name(i, name, *fault));
    }
    if (Status free = check_names_are_free(node_); !free.ok()) return free;
    if (auto stop = auto_stop_wanted(node_); !stop.ok()) return std::move(stop).status();
    for (const ir::Disk& disk : node_.disks) {
      if (disk.index != 0 && is_mounted(disk) && !is_plain_path(disk.mount_path))
        return cannot(
            fmt::format("disk.{}.mount_path = '{}': must be an absolute path", disk.index, disk.mount_path));
    }
    return {};
  }

  // For a node that passes check().
  Result<NodeDesign> design() {
    if (std::string names = without_use(node_); !names.empty()) note("cloud local has no use for " + names);
    names();
    if (auto cpus = number_wanted(node_, "cpu.count")) made_.spec["cpu_count"] = *cpus;
    if (auto memory = number_wanted(node_, "memory.size")) made_.spec["memory_bytes"] = *memory;
    if (asks_for_gpus(node_)) note("its nodes share the GPUs of this computer");
    auto stop = auto_stop_wanted(node_);
    if (!stop.ok()) return std::move(stop).status();
    if (*stop) made_.spec["stop"] = to_json(**stop);
    if (!node_.user.empty()) note(fmt::format("the login is this computer's user, not '{}'", node_.user));
    disks();
    for (const auto& interface : node_.interfaces) {
      if (!interface.fixed_ip.empty())
        made_.notes.push_back(fmt::format("{}: address {} is ignored: a local node has a loopback address",
                                          node_.address, interface.fixed_ip));
    }
    return std::move(made_);
  }

 private:
  Status cannot(const std::string& why) const { return invalid(fmt::format("{}: {}", node_.address, why)); }
  // The same for all nodes of a system, so that a plan reports it once.
  void note(const std::string& text) {
    made_.notes.push_back(fmt::format("system '{}': {}", node_.system, text));
  }

  void names() {
    made_.spec["hostname"] = full_host_name(node_, 0);
    made_.spec["number"] = node_.number;
    for (size_t i = 1; i < node_.interfaces.size(); ++i) {
      if (std::string name = full_host_name(node_, i); !name.empty())
        made_.spec["names"].push_back(std::move(name));
    }
  }

  void disks() {
    for (const auto& disk : node_.disks) {
      if (disk.index == 0) continue;
      if (!is_mounted(disk)) {
        note(fmt::format("disk {} is not created: a local node has no device of its own", disk.index));
        continue;
      }
      made_.spec["disks"].push_back({{"index", disk.index}, {"mount_path", disk.mount_path}});
      note(fmt::format("disk {} is a folder of the node, mounted at {}; its size has no limit", disk.index,
                       disk.mount_path));
    }
  }

  const ir::Node& node_;
  NodeDesign made_;
};

Wanted key_wanted(const CloudId& cloud) {
  Wanted key;
  key.address = key_address(cloud);
  key.type = "key";
  key.spec = {{"type", "ed25519"}};
  key.summary = "ed25519 key pair for SSH";
  return key;
}

Wanted network_wanted(const CloudId& cloud, const DesignInput& input, const ir::Network& network) {
  Wanted wanted;
  wanted.address = network_address(cloud, input, network);
  wanted.type = "network";
  wanted.spec = network_spec(network);
  wanted.references = {key_address(cloud)};
  wanted.summary = network_summary(network);
  return wanted;
}

Wanted node_wanted(const CloudId& cloud, const DesignInput& input, const ir::Node& node, Json spec) {
  Wanted wanted;
  wanted.address = wanted.node = node.address;
  wanted.type = "node";
  wanted.spec = std::move(spec);
  wanted.references = {key_address(cloud)};
  for (const ir::Network* network : networks_of(input, node))
    wanted.references.push_back(network_address(cloud, input, *network));
  wanted.summary = node_summary(node, cloud.text(), {});
  if (auto stop = wanted.spec.find("stop"); stop != wanted.spec.end())
    wanted.summary += ", " + auto_stop_text(auto_stop_from_json(*stop));
  wanted.seconds = 0.2;
  return wanted;
}

}  // namespace

Status can_make_node(const ir::Node& node) { return NodeDesigner(node).check(); }

Result<Design> design_nodes(const CloudId& cloud, const DesignInput& input) {
  Design design;
  if (input.nodes.empty()) return design;
  design.resources.push_back(key_wanted(cloud));
  for (const ir::Network* network : networks_to_make(input))
    design.resources.push_back(network_wanted(cloud, input, *network));
  std::set<std::string> noted;
  for (const ir::Node* node : input.nodes) {
    auto made = NodeDesigner(*node).design();
    if (!made) return made.status();
    design.resources.push_back(node_wanted(cloud, input, *node, std::move(made->spec)));
    for (std::string& note : made->notes) {
      if (noted.insert(note).second) design.notes.push_back(std::move(note));
    }
  }
  return design;
}

Impact impact_of(const std::string& type, const Json& before, const Json& after) {
  constexpr std::pair<const char*, const char*> kFixed[] = {
      {"hostname", "the host name is fixed when the node is created"},
      {"stop", "auto-stop is set up when the node is created"},
      {"disks", "data disks are mounted when the node is created"}};
  auto field = [](const Json& spec, const char* name) {
    return spec.is_object() ? spec.value(name, Json()) : Json();
  };
  for (const auto& [name, why] : kFixed) {
    if (type == "node" && field(before, name) != field(after, name)) return {Impact::Kind::Replace, why};
  }
  return {Impact::Kind::InPlace, ""};
}

}  // namespace radl::local
