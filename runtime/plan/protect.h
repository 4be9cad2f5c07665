// prevent_destroy in a file and in a state.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace radl {

// The position where the file protects the node: "demo.radl:4"; empty: it does not.
std::string protection_of(const ir::Node& node);

}  // namespace radl
