// RADL's #N#: a node keeps its number whatever happens to the others.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

// The value for CompileOptions::node_numbers.
std::map<std::string, int> node_numbers(const Snapshot& snapshot);
// True if the program was compiled with other numbers than the state has, so that it must be recompiled with
// them. (The state is found by the program's name, so the first compilation does not know the numbers. For
// most programs they agree.)
bool numbers_moved(const ir::Program& program, const Snapshot& snapshot);

}  // namespace radl
