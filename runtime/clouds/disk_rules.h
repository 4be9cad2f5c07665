// Which disks a machine type takes, for clouds where not every type takes each. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

struct DiskRules {
  std::string cloud;                 // for messages: "Compute Engine"
  std::vector<std::string> types;    // of disks that there are, as `disk.N.type` names them
  std::vector<std::string> no_root;  // of them those that a machine cannot start from
  std::function<bool(const std::string& machine, const std::string& disk)> takes;
};

// Invalid: a disk of the node is of a type that there is not, or that a machine cannot start from.
Status check_disk_types(const DiskRules& rules, const ir::Node& node);
// Whether the machine takes each disk of the node that has a type.
bool takes_disks(const DiskRules& rules, const ir::Node& node, const std::string& machine);
// Invalid, of a machine that does not: names the disk, and what the machine takes.
Status disks_not_taken(const DiskRules& rules, const ir::Node& node, const std::string& machine);

}  // namespace radl
