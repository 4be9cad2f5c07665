// What a region has on offer now: for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/gce/api.h"

namespace radl::gce {

// {"project", "zones": [..], "images": {wanted: path}, "quotas": {METRIC: {"limit", "used", "ours"}}};
// "ours": of what is used what this infrastructure has. NotFound: an image is not there.
Result<Json> take_survey(Asking& call, const ir::Program& program);

// Quota: the design needs more than a survey says that there is; names quota, limit and need.
Status check_quotas(const DesignInput& input, const Design& design);

// Of machines of any type.
std::vector<QuotaUse> quota_uses(const Survey& survey);

}  // namespace radl::gce
