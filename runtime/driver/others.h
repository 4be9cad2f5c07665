// What carries an infrastructure's tag without being in its state, in plans of its end.
#pragma once

#include <set>
#include <string>

#include "runtime/exec/executor.h"
#include "runtime/plan/plan.h"

namespace radl::driver {

// Adds a note for each, and for each cloud that could not be asked. `also`: ids that are destroyed as well.
void note_others(const Others& others, const std::set<std::string>& also, Plan& plan);

}  // namespace radl::driver
