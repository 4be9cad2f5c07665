// Checks that the state is correct and that everything in the clouds is known. Internal to
// runtime/trial.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/trial/trial_world.h"

namespace radl {

// Invariants that hold at any time, after any interruption.
std::vector<Finding> findings_at_any_time(TrialWorld& world);
// Invariants after an apply that reported success. `tampered`: IDs of resources changed outside radlc since
// the last look.
std::vector<Finding> findings_after_apply(TrialWorld& world, const TrialSubject& subject,
                                          const ir::Program& program, const std::set<std::string>& tampered);
// Invariants after a destroy that reported success; lets hours pass.
std::vector<Finding> findings_after_destroy(TrialWorld& world);

}  // namespace radl
