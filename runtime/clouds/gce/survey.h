// What a region has on offer now: for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/gce/api.h"
#include "runtime/clouds/machine_quotas.h"

namespace radl::gce {

// {"project", "zones": [..], "images": {wanted: path}}, and what machine_quotas.h reads: quotas of the region
// and those of the project that count all regions. NotFound: an image is not there.
Result<Json> take_survey(Asking& call, const ir::Program& program);

// By their metrics (cloud.google.com/compute/resource-usage): INSTANCES; CPUS, or those of the type's family;
// graphics processors by model; of spot machines the PREEMPTIBLE_ ones where the project was given any. The
// survey outlives the answer.
QuotasTaken quotas_taken(const Survey& survey);

}  // namespace radl::gce
