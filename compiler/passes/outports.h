// The `outports` feature: "22/tcp,8080-80,9000:9010/udp,10.0.0.0/8-5000".
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl::passes {

// What can be read of it; blanks after commas are taken. What cannot was reported by the check.
std::vector<ir::PortRule> parse_outports(std::string_view text);

}  // namespace radl::passes
