// Maps nodes to existing machines, for the plan. Pure.
#pragma once

#include "runtime/clouds/cloud.h"

namespace radl::hosts {

// Invalid names the feature that is unavailable; with a survey, also what the machine lacks.
Status can_be_had(const ir::Node& node, const DesignInput& input);
Result<Design> design_hosts(const CloudId& cloud, const DesignInput& input);
Impact impact_of(const std::string& type, const Json& before, const Json& after);

// {"machine": "ssh://...", "requires": {...}, "credentials": {"password": {"$secret": NAME}}}.
Json host_spec(const ir::Node& node, const std::string& machine);

}  // namespace radl::hosts
