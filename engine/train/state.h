// Whether a job can resume from a checkpoint.
#pragma once

#include "engine/train/checkpoint.h"
#include "engine/train/setup.h"

namespace radl::engine {

// Invalid: explains the differences.
Status check_fits(const Checkpoint& checkpoint, const Job& job, const Setup& setup);

}  // namespace radl::engine
