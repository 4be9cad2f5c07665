// RADL's #N#: once a node has a number it keeps it, whatever happens to the others.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

// What the compiler is to be given (CompileOptions::node_numbers).
std::map<std::string, int> node_numbers(const Snapshot& snapshot);
// True when the program was compiled with other numbers than the state has: compile it again with them. (The
// state is found by the program's name, so the first compilation knows no numbers; for most programs they
// agree anyway.)
bool numbers_moved(const ir::Program& program, const Snapshot& snapshot);

}  // namespace radl
