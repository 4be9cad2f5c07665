// Notes foreign resources with an infrastructure's tag in plans that destroy the infrastructure.
#pragma once

#include <set>
#include <string>

#include "runtime/exec/executor.h"
#include "runtime/plan/plan.h"

namespace radl::driver {

// Adds a note for each one, and for each cloud that could not be queried. `also`: IDs that are destroyed too.
void note_others(const Others& others, const std::set<std::string>& also, Plan& plan);

}  // namespace radl::driver
