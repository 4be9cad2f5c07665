#include "runtime/clouds/design_builder.h"

#include <cmath>

#include "runtime/clouds/wishes.h"

namespace radl {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr const char* kOneEach = "a list has one entry for each node of the system, in their order";

}  // namespace

Status DesignBuilder::add_volumes(const ir::Node& node, const Volumes& volumes, Json& spec,
                                  std::vector<std::string>& references) {
  for (const ir::Disk& disk : node.disks) {
    Json made = Json::object();
    if (disk.size_bytes) made["size_gib"] = static_cast<long long>(std::ceil(*disk.size_bytes / kGiB));
    if (!disk.type.empty()) made["type"] = disk.type;
    add_encryption(node, disk, volumes, made);
    if (disk.index == 0) {
      if (const long long free = free_disk_wanted(node); free > 0) made["free_gib"] = free;
      if (!made.empty()) spec["root"] = std::move(made);
      continue;
    }
    auto place = further_disk(node, disk, volumes, std::move(made), references);
    if (!place.ok()) return place.status();
    if (!place->is_null()) spec["volumes"][std::string(1, device_letter(disk))] = std::move(*place);
  }
  for (const std::string& text : disk_notes(node)) note(text);
  return {};
}

void DesignBuilder::add_encryption(const ir::Node& node, const ir::Disk& disk, const Volumes& volumes,
                                   Json& made) {
  const Encryption wanted = encryption_wanted(node, disk.index);
  if (!wanted.wanted) return;
  const std::string of = fmt::format("system '{}': disk.{}", node.system, disk.index);
  if (volumes.encrypted_by.empty()) {
    note(
        fmt::format("warning: {} is not encrypted by radlc: {} encrypts by the type of a disk; name one that "
                    "does in disk.{}.type",
                    of, volumes.cloud, disk.index));
  } else if (!wanted.key.empty()) {
    made["encryption_key"] = wanted.key;
  } else {
    note(fmt::format("{}.encrypted: {}", of, volumes.encrypted_by));
  }
}

Result<Json> DesignBuilder::further_disk(const ir::Node& node, const ir::Disk& disk, const Volumes& volumes,
                                         Json made, std::vector<std::string>& references) {
  if (!disk.image_urls.empty()) return existing_disk(node, disk, volumes);
  if (!made.contains("size_gib")) return Json();
  if (!volumes.own_type.empty() && disk.type == volumes.own_type) return Json{{"own_gib", made["size_gib"]}};
  if (!volumes.type_unsaid.empty() && disk.type.empty()) made["type"] = volumes.type_unsaid;
  if (!volumes.zone.empty()) made["zone"] = volumes.zone;
  const std::string address = part_address("volume", node, disk.index);
  const std::string summary =
      fmt::format("{} of {} GiB for {}", volumes.noun, made["size_gib"].get<long long>(), node.address);
  add(address, volumes.type, summary, std::move(made), volumes.references);
  references.push_back(address);
  return Json(address);
}

// Each node of the system takes its own disk from a list, because a disk is attached to one machine.
Result<Json> DesignBuilder::existing_disk(const ir::Node& node, const ir::Disk& disk,
                                          const Volumes& volumes) {
  const std::string feature = fmt::format("{}: disk.{}.image.url", node.address, disk.index);
  if (!volumes.existing)
    return invalid(fmt::format("{}: a further disk is always empty in {}", feature, volumes.cloud));
  std::vector<std::string> names;
  for (const std::string& url : disk.image_urls) {
    auto name = volumes.existing(url);
    if (!name.ok()) return Status(name.status()).at(feature);
    if (!name->empty()) names.push_back(std::move(*name));
  }
  if (names.empty())
    return invalid(fmt::format("{} = '{}' is not a {} of {}", feature, disk.image_urls.front(), volumes.noun,
                               volumes.cloud));
  const size_t at = names.size() == 1 ? 0 : static_cast<size_t>(node.ordinal);
  if (at >= names.size())
    return invalid(fmt::format("{}: the list has {} of {}, none for this node", feature, names.size(),
                               volumes.cloud))
        .with_hint(kOneEach);
  if (Status free = claim(node, feature, volumes.noun, names[at]); !free.ok()) return free;
  if (disk.size_bytes || !disk.type.empty())
    note(fmt::format("system '{}': disk {} exists already: its size and type do not change", node.system,
                     disk.index));
  return Json{{"existing", names[at]}};
}

Status DesignBuilder::claim(const ir::Node& node, const std::string& feature, const std::string& noun,
                            const std::string& name) {
  const auto [other, is_new] = existing_.emplace(name, node.address);
  if (is_new) return {};
  return invalid(fmt::format("{}: {} {} is for {} already, and can be attached to only one machine", feature,
                             noun, name, other->second))
      .with_hint(kOneEach);
}

}  // namespace radl
