// RADL's #N#: once a node has a number it keeps it, whatever happens to the others.
#pragma once

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

// Call it after compile() and before make_plan(): nodes that the state knows get their number back, new ones the
// smallest free, and host names are made again from their templates.
void keep_numbers(ir::Program& program, const Snapshot& snapshot);

}  // namespace radl
