// Which disk types a machine type supports, for clouds with restrictions. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

struct DiskRules {
  std::string cloud;                 // for messages: "Compute Engine"
  std::vector<std::string> types;    // existing disk types, as named by `disk.N.type`
  std::vector<std::string> no_root;  // those that cannot be boot disks
  std::function<bool(const std::string& machine, const std::string& disk)> takes;
};

// Invalid: a disk of the node has an unknown type, or a type that cannot be a boot disk.
Status check_disk_types(const DiskRules& rules, const ir::Node& node);
// True if the machine supports each disk type of the node.
bool takes_disks(const DiskRules& rules, const ir::Node& node, const std::string& machine);
// Invalid if not: names the disk, and what the machine supports.
Status disks_not_taken(const DiskRules& rules, const ir::Node& node, const std::string& machine);

}  // namespace radl
