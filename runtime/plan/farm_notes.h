// What a plan says of a farm (docs/farm.md): its tasks, how many run at a time, when it ends.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

// A note for a program step with a `farm`, by what its nodes' systems ask for; nothing for other steps. A
// farm that cannot run as it is, or has a task that no node is large enough for, gets a note that says so.
void add_farm_note(const ir::Program& program, const ir::Step& step, std::vector<std::string>& notes);

}  // namespace radl
