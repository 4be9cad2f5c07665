// What is left in the clouds after a destroy. Internal to runtime/exec.
#pragma once

#include <set>
#include <string>

#include "runtime/exec/execution.h"
#include "runtime/exec/ownership.h"

namespace radl {

// Destroys what this state has created and what `Run::also` names, in these clouds (CloudId::text()), and
// looks again until nothing of it shows. `report.leftovers` names what could not be removed, or not be asked
// for, and why; `report.unowned` what carries the infrastructure's tag and was left alone. `named`: only what
// `Run::also` names.
void sweep(Execution& execution, const std::set<std::string>& clouds, const Ownership& ownership,
           RunReport& report, bool named = false);

}  // namespace radl
