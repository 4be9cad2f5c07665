// Constraints between the keys of a job.
#pragma once

#include "engine/train/job.h"
#include "engine/train/json_fields.h"

namespace radl::engine {

void check_all(const Job& job, Problems& problems);

}  // namespace radl::engine
