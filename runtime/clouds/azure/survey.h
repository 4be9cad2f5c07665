// What a subscription may use in a region: machine types, quotas, images.
#pragma once

#include "runtime/clouds/azure/api.h"
#include "runtime/clouds/machine_quotas.h"

namespace radl::azure {

// {"subscription", "restricted": {type: {"region" or zone: why}}, "families": {type: family}, "images":
// {..}}, and what machine_quotas.h reads.
Result<Json> take_survey(Asking& call, const ir::Program& program);

// vCPUs: of the region and the type's family, or of spot machines. The survey must outlive the result.
QuotasTaken quotas_taken(const Survey& survey);

}  // namespace radl::azure
