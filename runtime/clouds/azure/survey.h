// What a subscription may have in a region: machine types, quotas, images.
#pragma once

#include "runtime/clouds/azure/api.h"

namespace radl::azure {

// {"subscription", "restricted": {type: {"region" or zone: why}}, "families": {type: family}, "quotas":
// {name:
// {"limit", "used"}}, "own": {type: count}, "images": {..}}
Result<Json> take_survey(Asking& call, const ir::Program& program);

// Quota: the machines of a design are more than the region's vCPUs, or those of a family, allow; nothing is
// known without a survey.
Status check_quotas(const CloudId& cloud, const DesignInput& input, const Design& design);

// What this infrastructure has already counts as used by others: which of it would go is the plan's to say.
std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey);

}  // namespace radl::azure
