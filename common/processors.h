// How many processors this process may really use.
#pragma once

#include <string>

namespace radl {

// The processor time that the process's control groups (cgroups, version 1 or 2) allow it, in cores: 1.5 is a
// core and a half. 0: no limit. A group's limit holds for all within it, so that the lowest on the way up
// counts. `root` stands before /proc and /sys (for tests).
double processor_quota(const std::string& root = "");

// Cores in the process's affinity mask, but no more than the quota rounded to the nearest; at least 1.
int usable_cores();

}  // namespace radl
