// prevent_destroy, as a file says it and as a state remembers it.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace radl {

// Where the file says that the node must not be destroyed: "demo.radl:4"; empty: it may be.
std::string protection_of(const ir::Node& node);

}  // namespace radl
