// The jobs that run on an infrastructure and where: trainings and programs, and jobs of Slurm, Ray and Spark.
#pragma once

#include "common/stop.h"
#include "runtime/driver/nodes.h"

namespace radl::driver {

// The array that `radlc queue --json` prints (docs/programs.md). A node or a head that cannot be asked has an
// "error". Incomplete once `stop` has come.
Json job_queue(const Nodes& nodes, const Stop& stop);

}  // namespace radl::driver
