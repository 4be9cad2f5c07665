// Ends a running training, program or job of Slurm.
#pragma once

#include <optional>
#include <string>

#include "runtime/driver/notice.h"
#include "runtime/driver/project.h"

namespace radl::driver {

struct CancelledJob {
  std::string id;
  std::optional<size_t> nodes;  // on which it ran; of a job of Slurm unknown
};

// Requests the job's end, and kills it after its grace period. `word`: the job's ID, the end of it, or
// "slurm/12"; "": the only one. `tell` hears of nodes that cannot be asked. Invalid: it does not run.
Result<CancelledJob> cancel_job(const Host& host, const ProjectOptions& project, const std::string& word,
                                const Stop& stop, const Tell& tell);

}  // namespace radl::driver
