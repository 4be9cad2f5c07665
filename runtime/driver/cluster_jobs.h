// Jobs submitted with Ray's or Spark's own tools, as reported by their heads over HTTP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/nodes.h"

namespace radl::driver {

struct ClusterJob {
  std::string id;      // "raysubmit_x", "app-20261127-0001"
  std::string name;    // its entry point or application name
  std::string state;   // lower case: "running"
  std::string reason;  // why it waits or failed; "" if unknown
};

// Parses Ray's GET /api/jobs/ (https://docs.ray.io/en/latest/cluster/running-applications/job-submission/):
// returns the running jobs and the newest ended ones. Invalid: not such a response.
Result<std::vector<ClusterJob>> read_ray_jobs(std::string_view text);
// Same for drivers and applications, from the page /json/ of Spark's standalone master.
Result<std::vector<ClusterJob>> read_spark_jobs(std::string_view text);

// Adds the jobs of every such head of the infrastructure, in the format of `radlc queue --json`. An
// unreachable head becomes an entry with the reason.
void add_cluster_jobs(const Nodes& nodes, Json& all, const Stop& stop);

}  // namespace radl::driver
