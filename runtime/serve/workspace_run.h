// What the runs of a workspace hold to.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl::serve {

// Conflict: `now` does something that the plan `shown` (plan.h, as JSON) does not, or is of other sources,
// other inputs or another state.
Status stays_within(const Json& shown, const Plan& now);
// Whether `secrets` ("name=value") are the secret inputs that the plan asks for. Invalid.
Status check_secrets(const Json& shown, const std::vector<std::string>& secrets);

}  // namespace radl::serve
