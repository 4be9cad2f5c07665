// Reports which program sources a plan sends: changed files and bytes.
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "runtime/plan/plan.h"

namespace radl {

// Adds it to the plan's program runs, and a note about each large source. `work_directory`: of the
// infrastructure. An unreadable source is an error.
Status tell_sources(const ir::Program& program, const Snapshot& snapshot, const std::string& work_directory,
                    Plan& plan);

}  // namespace radl
