// The engine's defaults for a job: batch size, optimizer, learning rate and warm-up for its model.
#pragma once

#include <cstddef>

#include "common/status.h"
#include "engine/model/graph.h"
#include "engine/train/job.h"

namespace radl::engine {

// Sets batch_size, optimizer.name, schedule.peak and schedule.warmup if the job leaves them open, from the
// model's layers and the number of training images only (docs/training.md, "Defaults"), so that all members
// choose alike. Invalid: a given key contradicts the choice.
Status choose_defaults(Job& job, const Graph& graph, size_t images);

}  // namespace radl::engine
