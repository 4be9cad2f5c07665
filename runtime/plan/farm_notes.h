// Plan notes about a farm (docs/farm.md): its tasks, and how many run at a time.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/farm/packing.h"

namespace radl {

// Adds a note for a program step with a `farm`, using the requirements of its nodes' systems; none for other
// steps. The note explains if the farm cannot run or if a task is too large for every node.
void add_farm_note(const ir::Program& program, const ir::Step& step, std::vector<std::string>& notes);

// The minimum resources that a node of the file offers to a farm's tasks.
farm::Resources offered_by(const ir::Node& node);

}  // namespace radl
