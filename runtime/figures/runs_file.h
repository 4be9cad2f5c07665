// The runs of a user, a line each in a file (figures.h): appended by each run, also by several at once.
#pragma once

#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/figures/figures.h"

namespace radl {

// Makes the file and its folder, for the user alone. Beyond kMostRuns lines the older half is dropped.
// Cancelled or Timeout: another process held the file until `stop`.
Status append_run(const std::string& path, const RunFigures& figures, const Stop& stop = {});
inline constexpr size_t kMostRuns = 2000;

// Oldest first. No file: none. A line that is none of ours is left out and counted in `left_out`, so that one
// line that a full disk cut short does not cost the rest.
Result<std::vector<RunFigures>> read_runs(const std::string& path, size_t* left_out = nullptr);

// Of the last `bytes` of the file alone, as much as a plan may take the time for; what cannot be read is
// none.
std::vector<RunFigures> newest_runs(const std::string& path, size_t bytes = 32768);

}  // namespace radl
