// What is left in the clouds after a destroy. Internal to runtime/exec.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/exec/session.h"

namespace radl {

// Destroys everything that still carries the infrastructure's tag in these clouds (CloudId::text()), and
// looks again until nothing shows. `leftovers` names what could not be removed, or not be asked for, and why.
void sweep(Session& session, const std::set<std::string>& clouds, std::vector<std::string>& leftovers);

}  // namespace radl
