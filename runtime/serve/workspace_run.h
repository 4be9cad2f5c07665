// What the runs of a workspace hold to.
#pragma once

#include "runtime/plan/plan.h"

namespace radl::serve {

// Conflict: `now` does something that the plan `shown` (plan.h, as JSON) does not.
Status stays_within(const Json& shown, const Plan& now);

}  // namespace radl::serve
