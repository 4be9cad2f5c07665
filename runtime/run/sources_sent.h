// What of programs' sources a plan sends: which files have changed, and how many bytes go.
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "runtime/plan/plan.h"

namespace radl {

// Adds it to the plan's runs of programs, and a note about each source that is large. `work_directory`: of
// the infrastructure. A source that cannot be read is an error.
Status tell_sources(const ir::Program& program, const Snapshot& snapshot, const std::string& work_directory,
                    Plan& plan);

}  // namespace radl
