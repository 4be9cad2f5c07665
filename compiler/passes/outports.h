// The `outports` feature as rules of a network.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl::passes {

// What can be read of it; spaces after commas are accepted. What cannot, and ports that there are not, the
// check has reported.
std::vector<ir::PortRule> parse_outports(std::string_view text);

}  // namespace radl::passes
