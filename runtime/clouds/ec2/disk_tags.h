// Tags of the disks that are created with a machine. RunInstances writes them, and DescribeInstances does not
// show them. Source: Amazon EC2 API Reference, DescribeVolumes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

inline constexpr const char* kDiskTags =
    "disk_tags";  // field of a machine's spec, shown only where it drifted

// Adds kDiskTags to each machine of `found` that has radlc's tags and disks without them: what each disk
// lacks, by its id. `names`: addresses of the state, by id. Credentials without ec2:DescribeVolumes see no
// such drift.
Status add_disk_tags(Call& call, const std::map<std::string, std::string>& names,
                     std::map<std::string, Seen>& found);
// Writes the tags of the order on those of its machine's disks that lack some.
Asked write_disk_tags(Call& call, const Order& order, const std::set<std::string>& disks);

}  // namespace radl::ec2
