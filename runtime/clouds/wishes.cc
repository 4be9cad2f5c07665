#include "runtime/clouds/wishes.h"

#include <fmt/format.h>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "common/address_range.h"
#include "common/text.h"
#include "compiler/ir/derive.h"
#include "runtime/clouds/tag_rules.h"

namespace radl {
namespace {

std::optional<uint32_t> ipv4(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool is_no(const Json& value) {
  return value.is_string() && equal_ignoring_case(value.get<std::string>(), "no");
}

// Whether no cloud uses a feature. Those that are EC3's, that the service sets, or that steps use have a use.
bool is_without_effect(std::string_view name) {
  constexpr std::string_view kWhole[] = {"alpine",
                                         "command",
                                         "cpu.sgx",
                                         "cpu.sgx.epc_size",
                                         "dependencies",
                                         "disks.free_size",
                                         "docker.privileged",
                                         "environment.variables",
                                         "expose",
                                         "image_pull_secrets",
                                         "image_type",
                                         "name",
                                         "nat_instance",
                                         "rg_name",
                                         "script",
                                         "virtual_system_type"};
  constexpr std::string_view kOfInterfaces[] = {
      "additional_dns_names", "additional_ip", "dns_servers", "gateway", "ipv6", "mac"};
  constexpr std::string_view kOfRootDisk[] = {"content",
                                              "fstype",
                                              "image.name",
                                              "mount_path",
                                              "os.credentials.new.password",
                                              "os.credentials.new.private_key",
                                              "os.credentials.private_key",
                                              "os.credentials.public_key",
                                              "os.image.name",
                                              "os.image.vo"};
  if (const auto at = ir::indexed_feature(name, "net_interface."))
    return has(kOfInterfaces, at->rest) || at->rest.starts_with("dns.");
  if (const auto at = ir::indexed_feature(name, "disk.")) {
    if (at->index == 0) return has(kOfRootDisk, at->rest);
    return at->rest.starts_with("os.") || at->rest == "image.name" || at->rest == "free_size" ||
           at->rest == "content";
  }
  return has(kWhole, name);
}

}  // namespace

std::string text_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.requirements.find(feature);
  if (found == node.requirements.end() || !found->second.equals) return "";
  const Json& value = *found->second.equals;
  if (value.is_array() && !value.empty() && value.front().is_string()) return value.front();
  return value.is_string() ? value.get<std::string>() : "";
}

std::string text_wanted(const ir::Network& network, const std::string& feature) {
  auto found = network.features->find(feature);
  return found != network.features->end() && found->is_string() ? found->get<std::string>() : "";
}

bool says_yes(const ir::Node& node, const std::string& feature) {
  return equal_ignoring_case(text_wanted(node, feature), "yes");
}

bool says_yes(const ir::Network& network, const std::string& feature) {
  return equal_ignoring_case(text_wanted(network, feature), "yes");
}

bool says_no(const ir::Node& node, const std::string& feature) {
  return equal_ignoring_case(text_wanted(node, feature), "no");
}

std::vector<std::string> texts_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.requirements.find(feature);
  if (found == node.requirements.end() || !found->second.equals) return {};
  const Json& value = *found->second.equals;
  std::vector<std::string> texts;
  for (const Json& one : value.is_array() ? value : Json::array({value})) {
    if (!one.is_string()) continue;
    const std::string text = one.get<std::string>();
    for (std::string_view part : split(text, ','))
      if (!trim(part).empty()) texts.emplace_back(trim(part));
  }
  return texts;
}

Result<Json> tags_wanted(const ir::Node& node) {
  Json tags = Json::object();
  const std::string text = text_wanted(node, "instance_tags");
  if (text.empty()) return tags;
  for (std::string_view pair : split(text, ',')) {
    const size_t equals = pair.find('=');
    const std::string_view name = trim(pair.substr(0, equals));
    if (equals == pair.npos || name.empty())
      return invalid(
          fmt::format("{}: instance_tags = '{}': must be 'name=value,name=value'", node.address, text));
    const std::string where = node.address + ": instance_tags";
    if (Status free = check_key_is_free(where, name); !free.ok()) return free;
    auto [tag, is_new] = tags.emplace(std::string(name), std::string(trim(pair.substr(equals + 1))));
    if (!is_new) return invalid(fmt::format("{}: '{}' is set twice", where, name));
  }
  return tags;
}

std::string os_version_wanted(const ir::Node& node) {
  auto found = node.requirements.find("disk.0.os.version");
  if (found == node.requirements.end()) return "";
  if (found->second.equals && found->second.equals->is_string())
    return found->second.equals->get<std::string>();
  auto exact = found->second.versions.find("=");
  return exact == found->second.versions.end() ? "" : exact->second;
}

std::vector<std::string> image_urls(const ir::Node& node) {
  for (const ir::Disk& disk : node.disks)
    if (disk.index == 0) return disk.image_urls;
  return {};
}

Encryption encryption_wanted(const ir::Node& node, int disk) {
  const std::string prefix = fmt::format("disk.{}.", disk);
  Encryption wanted{says_yes(node, prefix + "encrypted"), text_wanted(node, prefix + "encryption_key")};
  wanted.wanted |= !wanted.key.empty();
  return wanted;
}

Status check_encryption(const ir::Node& node) {
  for (const ir::Disk& disk : node.disks) {
    const std::string feature = fmt::format("disk.{}.encrypted", disk.index);
    if (says_no(node, feature) && encryption_wanted(node, disk.index).wanted)
      return invalid(fmt::format("{}: {} = 'no' beside disk.{}.encryption_key", node.address, feature,
                                 disk.index))
          .with_hint("remove one of them");
  }
  return {};
}

long long free_disk_wanted(const ir::Node& node) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  auto found = node.requirements.find("disk.0.free_size");
  if (found == node.requirements.end()) return 0;
  const ir::Requirement& wanted = found->second;
  double bytes = wanted.min.value_or(0);
  if (wanted.equals && wanted.equals->is_number()) bytes = wanted.equals->get<double>();
  return static_cast<long long>(std::ceil(bytes / kGiB));
}

double root_disk_gib(const Json& root, double image_gib) {
  const double size = root.value("size_gib", 0.0), free = root.value("free_gib", 0.0);
  return free > 0 ? std::max(size, std::ceil(image_gib + free)) : size;
}

bool is_further_disk(const ir::Disk& disk) {
  return disk.index > 0 && (disk.size_bytes || !disk.image_urls.empty());
}

std::vector<std::string> features_without_effect(const ir::Node& node,
                                                 const std::vector<std::string>& unused) {
  std::vector<std::string> found;
  for (const auto& [name, wanted] : node.requirements) {
    const bool off = wanted.equals && is_no(*wanted.equals);
    if (!off && (is_without_effect(name) || has(unused, name))) found.push_back(name);
  }
  return found;
}

std::vector<std::string> features_without_effect(const ir::Network& network,
                                                 const std::vector<std::string>& unused) {
  std::vector<std::string> found;
  for (const auto& [name, value] : network.features->items())
    if (!is_no(value) && has(unused, name)) found.push_back(name);
  return found;
}

Status check_range(const ir::Network& network) {
  const std::string range = text_wanted(network, "cidr");
  std::string first = range;
  std::replace(first.begin(), first.end(), '*', '0');
  const bool six = range.find(':') != range.npos;
  if (range.empty() || (address_range(first) && !six)) return {};
  return invalid(fmt::format("network {}: cidr = '{}' is not an IPv4 range", network.name, range))
      .with_hint("such as 10.1.2.0/24, or 10.1.*.0/24 for the first one that is free");
}

Status check_fixed_ips(const ir::Node& node, const ir::Network& network, const std::string& range,
                       KeptAddresses kept) {
  const auto whole = address_range(range);
  if (!whole) return {};
  const size_t slash = whole->find('/');
  int length = 0;
  std::from_chars(whole->data() + slash + 1, whole->data() + whole->size(), length);
  const auto base = ipv4(whole->substr(0, slash));
  if (!base) return {};
  const uint64_t size = uint64_t(1) << (32 - length);
  for (const ir::Interface& interface : node.interfaces) {
    if (interface.network != network.name || interface.fixed_ip.empty()) continue;
    const auto address = ipv4(interface.fixed_ip);
    const std::string wanted =
        fmt::format("{}: net_interface.{}.ip = '{}'", node.address, interface.index, interface.fixed_ip);
    if (!address || *address < *base || *address - *base >= size)
      return invalid(fmt::format("{} is not an address of network {} ({})", wanted, network.name, *whole));
    const uint64_t place = *address - *base;
    if (place < kept.first || place >= size - kept.last)
      return invalid(
          fmt::format("{}: the cloud reserves the first {} and the last {} addresses of network {} ({})",
                      wanted, kept.first, kept.last, network.name, *whole));
  }
  return {};
}

bool within(const ir::Requirement& wanted, double value) {
  if (wanted.min && (value < *wanted.min || (wanted.min_strict && value == *wanted.min))) return false;
  if (wanted.max && (value > *wanted.max || (wanted.max_strict && value == *wanted.max))) return false;
  return true;
}

}  // namespace radl
