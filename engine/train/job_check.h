// The keys of a job, and the constraints between them.
#pragma once

#include "engine/train/job.h"
#include "engine/train/json_fields.h"

namespace radl::engine {

// Every key that parse_job accepts, in the order in which it reads them.
std::vector<KeyInfo> job_keys();

void check_all(const Job& job, Problems& problems);

}  // namespace radl::engine
