// What a region currently offers, for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/gce/api.h"
#include "runtime/clouds/machine_quotas.h"

namespace radl::gce {

// {"project", "zones": [..], "images": {wanted: path}}, and the data for machine_quotas.h: quotas of the
// region, and project quotas that count all regions. NotFound: an image does not exist.
Result<Json> take_survey(Asking& call, const ir::Program& program);

// By metric (cloud.google.com/compute/resource-usage): INSTANCES; CPUS, or those of the type's family; GPUs
// by model; for spot machines the PREEMPTIBLE_ metrics, if the project has any. The survey must outlive the
// result.
QuotasTaken quotas_taken(const Survey& survey);

}  // namespace radl::gce
