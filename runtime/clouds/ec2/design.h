// From nodes to what EC2 must make for them. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

Status check_node(const CloudId& cloud, const ir::Node& node, const DesignInput& input);
Result<Design> design_resources(const CloudId& cloud, const DesignInput& input);

// The region that a node names by its availability_zone ("eu-west-1", "eu-west-1b") or its image's URL; ""
// where it names none.
std::string region_named(const ir::Node& node);

}  // namespace radl::ec2
