// What a plan says of a farm (docs/farm.md): its tasks, and how many run at a time.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/farm/packing.h"

namespace radl {

// A note for a program step with a `farm`, by what its nodes' systems ask for; nothing for other steps. A
// farm that cannot run as it is, or has a task that no node is large enough for, gets a note that says so.
void add_farm_note(const ir::Program& program, const ir::Step& step, std::vector<std::string>& notes);

// What a node of the file offers to the tasks of a farm, at least.
farm::Resources offered_by(const ir::Node& node);

}  // namespace radl
