// Maps nodes to the resources that EC2 must create. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

Status check_node(const CloudId& cloud, const ir::Node& node, const DesignInput& input);
Result<Design> design_resources(const CloudId& cloud, const DesignInput& input);

// The region named by a node's availability_zone ("eu-west-1", "eu-west-1b") or its image's URL; "" if
// none.
std::string region_named(const ir::Node& node);

}  // namespace radl::ec2
