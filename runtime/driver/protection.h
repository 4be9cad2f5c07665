// Checks prevent_destroy in the files, for a command that does not compile them.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/plan/plan.h"
#include "runtime/state/snapshot.h"

namespace radl::driver {

// Invalid: the plan removes a node of a system that a file protects; names the line. Missing files protect
// nothing.
Status check_files_allow(const Plan& plan, const Snapshot& snapshot, const std::vector<std::string>& files);

}  // namespace radl::driver
