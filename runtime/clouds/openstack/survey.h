// What a cloud has on offer now: for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// {"project", "zones": [..], "flavors": [..], "images": {wanted: id}, "quotas": {name: {"limit", "used",
// "ours"}}}; "ours": of what is used what this infrastructure has. -1 as a limit: there is none. NotFound: an
// image is not there.
Result<Json> take_survey(Asking& call, const ir::Program& program, const std::string& host);

// Quota: the design needs more than a survey says that there is; names quota, limit and need.
Status check_quotas(const DesignInput& input, const Design& design);

std::vector<QuotaUse> quota_uses(const InstanceType& type, const Survey& survey);

}  // namespace radl::openstack
