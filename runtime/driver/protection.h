// prevent_destroy as the files say it, for a command that does not compile them.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/plan/plan.h"
#include "runtime/state/snapshot.h"

namespace radl::driver {

// Invalid: the plan removes a node of a system that one of the files protects; names the line. Files that are
// not there any more protect nothing.
Status check_files_allow(const Plan& plan, const Snapshot& snapshot, const std::vector<std::string>& files);

}  // namespace radl::driver
