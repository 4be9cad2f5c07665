// Checks the account of an infrastructure before anything else. With credentials of another account, all
// resources would seem to be missing.
#pragma once

#include <set>
#include <string>

#include "runtime/exec/execution.h"

namespace radl {

// Returns the clouds of the recorded resources and, given a plan, of its actions.
std::set<std::string> clouds_of(Execution& execution, const Plan* plan = nullptr);
// Auth: a cloud's credentials belong to another owner than the recorded one. `keep`: records owners that are
// unknown so far (requires the lock).
Status check_owners(Execution& execution, const std::set<std::string>& clouds, bool keep);

}  // namespace radl
