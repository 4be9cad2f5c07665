// Constraints on the runs of a workspace.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl::serve {

// Conflict: `now` has an action that the plan `shown` (plan.h, as JSON) lacks, or other sources, inputs or
// state.
Status stays_within(const Json& shown, const Plan& now);
// Invalid unless `secrets` ("name=value") are exactly the secret inputs that the plan requires.
Status check_secrets(const Json& shown, const std::vector<std::string>& secrets);

}  // namespace radl::serve
