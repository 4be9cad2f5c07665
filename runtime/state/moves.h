// Applies the file's `moved` blocks to a snapshot. Pure; Store::commit() persists them.
#pragma once

#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/state/change.h"

namespace radl {

struct MovedState {
  Snapshot snapshot;                     // with the new names
  std::vector<state_change::Move> made;  // moves that had something to rename, in order
};

// The state after the program's moves. Skips moves without anything to rename, because they were made
// before. Exists: both the old and the new name exist. Invalid: the new name is not in the program, or
// unsuitable.
Result<MovedState> moved_state(const Snapshot& snapshot, const ir::Program& program);

}  // namespace radl
