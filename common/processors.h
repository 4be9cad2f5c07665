// The number of processors available to this process.
#pragma once

#include <string>

namespace radl {

// CPU time limit of the process's control groups (cgroups, version 1 or 2) in cores, such as 1.5. 0: no
// limit. Nested groups all apply, so the lowest limit counts. Tests pass a `root`, which is prepended to
// /proc and /sys.
double processor_quota(const std::string& root = "");

// Cores in the process's affinity mask, at most the rounded quota, at least 1.
int usable_cores();

}  // namespace radl
