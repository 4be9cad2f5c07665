// Jobs that were given to Ray's or Spark's own submit, by what their heads answer over HTTP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/nodes.h"

namespace radl::cli {

struct ClusterJob {
  std::string id;      // "raysubmit_x", "app-20261127-0001"
  std::string name;    // its entry point, its application's name
  std::string state;   // lower case: "running"
  std::string reason;  // why it waits or failed; "": not said
};

// Of Ray's GET /api/jobs/ (https://docs.ray.io/en/latest/cluster/running-applications/job-submission/): those
// that have not ended, and the newest that have. Invalid: no such answer.
Result<std::vector<ClusterJob>> read_ray_jobs(std::string_view text);
// Of the page /json/ of the master of Spark's standalone mode: the same of drivers and applications.
Result<std::vector<ClusterJob>> read_spark_jobs(std::string_view text);

// Adds the jobs of every such head of the infrastructure, as `radlc queue --json` shows them; a head that
// does not answer is one entry that says why.
void add_cluster_jobs(const driver::Nodes& nodes, Json& all, const Stop& stop);

}  // namespace radl::cli
