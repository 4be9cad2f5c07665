// Whose account an infrastructure is in: asked before anything is looked up in a cloud, since to credentials
// of another account all that there is would seem to be gone.
#pragma once

#include <set>
#include <string>

#include "runtime/exec/execution.h"

namespace radl {

// The clouds of what is recorded and, with a plan, of its actions.
std::set<std::string> clouds_of(Execution& execution, const Plan* plan = nullptr);
// Auth: a cloud's credentials belong to another owner than what the state has there. What the state does not
// know yet it learns, where `keep` says so (needs the lock).
Status check_owners(Execution& execution, const std::set<std::string>& clouds, bool keep);

}  // namespace radl
