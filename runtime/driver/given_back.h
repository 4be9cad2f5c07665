// What remains on machines that are released instead of deleted (cloud `hosts`).
#pragma once

#include "runtime/plan/plan.h"

namespace radl::driver {

// Adds notes to a plan that releases machines: what their steps created there, as far as known. Lists files,
// packages, users and services by name; notes commands and other recipes as not undone.
void tell_what_stays(Plan& plan, const Snapshot& snapshot);

}  // namespace radl::driver
