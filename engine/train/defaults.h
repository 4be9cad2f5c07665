// What a job leaves to the engine: batch size, optimizer, learning rate and warm-up that train its model.
#pragma once

#include <cstddef>

#include "common/status.h"
#include "engine/model/graph.h"
#include "engine/train/job.h"

namespace radl::engine {

// Fills in batch_size, optimizer.name, schedule.peak and schedule.warmup where the job leaves them open, from
// the model's layers and the number of training images (docs/training.md, "Defaults"). All members of a job
// choose alike: nothing else is looked at. Invalid if a key that was given does not fit what is chosen.
Status choose_defaults(Job& job, const Graph& graph, size_t images);

}  // namespace radl::engine
