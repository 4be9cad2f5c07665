// What a local node is for the plan. Pure.
#pragma once

#include "runtime/providers/provider.h"

namespace radl::local {

Result<Quote> quote_node(const ir::Node& node);

}  // namespace radl::local
