// Tags of disks that are created with a machine. RunInstances sets them, but DescribeInstances does not show
// them. Source: Amazon EC2 API Reference, DescribeVolumes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

inline constexpr const char* kDiskTags =
    "disk_tags";  // field of a machine's spec; present only if there is drift

// Adds kDiskTags to each machine of `found` that has radlc's tags and disks without them: the missing tags by
// disk ID. `names`: addresses in the state, by ID. Credentials without ec2:DescribeVolumes do not detect this
// drift.
Status add_disk_tags(Call& call, const std::map<std::string, std::string>& names,
                     std::map<std::string, Seen>& found);
// Writes the order's tags to those disks of its machine that lack some.
Asked write_disk_tags(Call& call, const Order& order, const std::set<std::string>& disks);

}  // namespace radl::ec2
