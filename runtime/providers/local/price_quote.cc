#include "runtime/providers/local/price_quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "common/host_name.h"

namespace radl::local {
namespace {

std::optional<double> number_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.requirements.find(feature);
  return found == node.requirements.end() ? std::nullopt : found->second.min;
}

std::string text_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.requirements.find(feature);
  if (found == node.requirements.end() || !found->second.equals || !found->second.equals->is_string())
    return "";
  std::string text = found->second.equals->get<std::string>();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Absolute, without a step upwards, and with nothing that a shell or a mount would understand.
bool is_plain_path(const std::string& path) {
  bool good = path.size() > 1 && path[0] == '/' && (path + "/").find("/../") == std::string::npos;
  for (char c : path)
    good &= std::isalnum(static_cast<unsigned char>(c)) ||
            std::string_view("/._-+@").find(c) != std::string_view::npos;
  return good;
}

// What a system asks for that this machine has no notion of; "" when there is nothing.
std::string without_use(const ir::Node& node) {
  constexpr std::string_view kUsed[] = {"cpu.", "memory.", "net_interface.", "disk.", "gpu."};
  std::string names;
  for (const auto& [feature, wanted] : node.requirements) {
    bool used = std::any_of(std::begin(kUsed), std::end(kUsed),
                            [&](std::string_view prefix) { return feature.starts_with(prefix); });
    if (!used || feature.starts_with("disk.0.image.")) names += (names.empty() ? "" : ", ") + feature;
  }
  return names;
}

std::string not_a_host_name(size_t interface, const std::string& name, const HostNameFault& fault) {
  return fmt::format("net_interface.{}.dns_name: '{}' is no host name: {}", interface, name, fault.message);
}

}  // namespace

Result<Quote> quote_node(const ir::Node& node) {
  auto cannot = [&](const std::string& why) {
    return Status(Code::Invalid, fmt::format("{}: {}", node.address, why));
  };
  std::string os = text_wanted(node, "disk.0.os.name");
  if (!os.empty() && os != "linux")
    return cannot(
        fmt::format("disk.0.os.name = '{}': provider local makes nodes of this Linux computer", os));
  if (number_wanted(node, "gpu.count").value_or(0) > 0)
    return cannot("gpu.count: provider local has no GPU to give");
  Quote quote;
  // The same for all nodes of a system, so that a plan tells it once.
  auto note = [&](const std::string& text) {
    quote.notes.push_back(fmt::format("system '{}': {}", node.system, text));
  };
  if (std::string names = without_use(node); !names.empty()) note("provider local has no use for " + names);
  quote.instance_type = "local";
  quote.seconds_to_ready = 0.2;
  std::string host = node.interfaces.empty() || node.interfaces[0].host_name.empty()
                         ? fmt::format("vnode-{}", node.number)
                         : node.interfaces[0].host_name;
  std::string domain = node.interfaces.empty() || node.interfaces[0].domain.empty()
                           ? "localdomain"
                           : node.interfaces[0].domain;
  if (auto fault = host_name_fault(host + "." + domain))
    return cannot(not_a_host_name(0, host + "." + domain, *fault));
  quote.spec = {{"hostname", host + "." + domain}, {"number", node.number}};
  if (auto cpus = number_wanted(node, "cpu.count")) quote.spec["cpu_count"] = *cpus;
  if (auto memory = number_wanted(node, "memory.size")) quote.spec["memory_bytes"] = *memory;
  if (!node.user.empty()) note(fmt::format("the login is this computer's user, not '{}'", node.user));
  for (const auto& disk : node.disks) {
    if (disk.index == 0) continue;
    bool mounted = !disk.mount_path.empty() && !disk.device.empty() && !disk.fstype.empty();
    if (!mounted || disk.fstype == "swap") {
      note(fmt::format("disk {} is not made: a local node has no device of its own", disk.index));
      continue;
    }
    if (!is_plain_path(disk.mount_path))
      return cannot(
          fmt::format("disk.{}.mount_path = '{}': must be an absolute path", disk.index, disk.mount_path));
    quote.spec["disks"].push_back({{"index", disk.index}, {"mount_path", disk.mount_path}});
    note(fmt::format("disk {} is a folder of the node, mounted at {}; its size has no limit", disk.index,
                     disk.mount_path));
  }
  for (size_t i = 1; i < node.interfaces.size(); ++i) {
    const auto& interface = node.interfaces[i];
    if (interface.host_name.empty()) continue;
    std::string name =
        interface.host_name + "." + (interface.domain.empty() ? "localdomain" : interface.domain);
    if (auto fault = host_name_fault(name)) return cannot(not_a_host_name(i, name, *fault));
    quote.spec["names"].push_back(std::move(name));
  }
  for (const auto& interface : node.interfaces) {
    if (!interface.fixed_ip.empty())
      quote.notes.push_back(fmt::format("{}: address {} is not given: a local node has a loopback address",
                                        node.address, interface.fixed_ip));
  }
  return quote;
}

}  // namespace radl::local
