#include "runtime/clouds/disk_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

namespace radl {
namespace {

bool is_among(const std::vector<std::string>& types, const std::string& type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string where_of(const ir::Node& node, const ir::Disk& disk) {
  return fmt::format("{}: disk.{}.type = '{}'", node.address, disk.index, disk.type);
}

std::string taken_by(const DiskRules& rules, const std::string& machine, bool root) {
  std::vector<std::string> taken;
  for (const std::string& type : rules.types)
    if (rules.takes(machine, type) && !(root && is_among(rules.no_root, type))) taken.push_back(type);
  return join(taken, ", ");
}

Status check_type(const DiskRules& rules, const std::string& where, const ir::Disk& disk) {
  if (!is_among(rules.types, disk.type)) {
    const std::string near = nearest(disk.type, rules.types);
    return invalid(fmt::format("{}: {} does not have this type of disk", where, rules.cloud))
        .with_hint(near.empty() ? "it has " + join(rules.types, ", ") : "did you mean " + near + "?");
  }
  if (disk.index == 0 && is_among(rules.no_root, disk.type))
    return invalid(
               fmt::format("{}: a machine of {} cannot start from a disk of that type", where, rules.cloud))
        .with_hint("use it for a further disk (disk.1.type), and another type for disk.0");
  return {};
}

}  // namespace

Status check_disk_types(const DiskRules& rules, const ir::Node& node) {
  for (const ir::Disk& disk : node.disks)
    if (!disk.type.empty())
      if (Status right = check_type(rules, where_of(node, disk), disk); !right.ok()) return right;
  return {};
}

bool takes_disks(const DiskRules& rules, const ir::Node& node, const std::string& machine) {
  return std::all_of(node.disks.begin(), node.disks.end(), [&](const ir::Disk& disk) {
    return disk.type.empty() || rules.takes(machine, disk.type);
  });
}

Status disks_not_taken(const DiskRules& rules, const ir::Node& node, const std::string& machine) {
  for (const ir::Disk& disk : node.disks) {
    if (disk.type.empty() || rules.takes(machine, disk.type)) continue;
    return invalid(fmt::format("{}: a machine of type {} does not take such a disk", where_of(node, disk),
                               machine))
        .with_hint(fmt::format("it takes {}; choose one of these, or another instance_type",
                               taken_by(rules, machine, disk.index == 0)));
  }
  return {};
}

}  // namespace radl
