// What stays on machines that are given back and not removed (cloud `hosts`).
#pragma once

#include "runtime/plan/plan.h"

namespace radl::driver {

// Adds notes to a plan that gives machines back: what their steps made there, as far as it is known. Files,
// packages, users and services by their names; commands and other recipes as not undone.
void tell_what_stays(Plan& plan, const Snapshot& snapshot);

}  // namespace radl::driver
