// `moved` of a file: what the state has is called otherwise by now. Pure; Store::commit() makes it last.
#pragma once

#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/state/change.h"

namespace radl {

struct MovedState {
  Snapshot snapshot;                     // with the new names
  std::vector<state_change::Move> made;  // those that found something to move, in order
};

// The state as the program's moves make it. A move that finds nothing has been made before, and is passed
// over. Exists: old and new are both there. Invalid: the new name is nowhere in the program, or none for such
// a thing.
Result<MovedState> moved_state(const Snapshot& snapshot, const ir::Program& program);

}  // namespace radl
