// Maps nodes to local nodes, for the plan. Pure.
#pragma once

#include "runtime/clouds/cloud.h"

namespace radl::local {

// Invalid names the feature that is unavailable.
Status can_make_node(const ir::Node& node);
Result<Design> design_nodes(const CloudId& cloud, const DesignInput& input);
Impact impact_of(const std::string& type, const Json& before, const Json& after);

}  // namespace radl::local
