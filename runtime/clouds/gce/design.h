// Maps nodes to the resources that Compute Engine must create. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::gce {

struct Place {
  CloudId cloud;
  std::string zone;  // for nodes without one; "": any of the region
};

Status check_node(const Place& place, const ir::Node& node, const DesignInput& input);
Result<Design> design_resources(const Place& place, const DesignInput& input);

}  // namespace radl::gce
