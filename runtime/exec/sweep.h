// Removes what remains in the clouds after a destroy. Internal to runtime/exec.
#pragma once

#include <set>
#include <string>

#include "runtime/exec/execution.h"
#include "runtime/exec/ownership.h"

namespace radl {

// Destroys this state's remaining resources and those in `Run::also`, in these clouds (CloudId::text()), and
// repeats until none shows. `report.leftovers` names those that could not be removed or queried, and why;
// `report.unowned` lists tagged resources that were kept. `named`: only those in `Run::also`.
void sweep(Execution& execution, const std::set<std::string>& clouds, const Ownership& ownership,
           RunReport& report, bool named = false);

}  // namespace radl
