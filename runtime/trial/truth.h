// Whether what the state says is so, and whether what there is in the clouds is known. Internal to
// runtime/trial.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/trial/trial_world.h"

namespace radl {

// What must be so at any time, whatever was interrupted.
std::vector<Finding> findings_at_any_time(TrialWorld& world);
// What must be so as well after an apply that said it is done. `tampered`: ids of what was changed behind
// radlc's back since it was looked at last.
std::vector<Finding> findings_after_apply(TrialWorld& world, const TrialSubject& subject,
                                          const ir::Program& program, const std::set<std::string>& tampered);
// After a destroy that said it is done; lets hours pass.
std::vector<Finding> findings_after_destroy(TrialWorld& world);

}  // namespace radl
