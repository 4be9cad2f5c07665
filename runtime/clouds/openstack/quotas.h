// A project's quotas, and a design's need.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// This infrastructure's share of the project's machines.
struct Ours {
  double cores = 0, memory_mib = 0;
  std::set<std::string> servers;  // ids
};
Result<Ours> ours_of(Asking& call, const std::vector<Flavor>& flavors);

// {name: {"limit", "used", "ours"}}; "ours": this infrastructure's share of "used". A limit of -1 means
// unlimited. Omits what the cloud does not report.
Result<Json> survey_quotas(Asking& call, const Ours& ours, const std::string& project);

// Quota: the design needs more than the survey reports as available; names quota, limit and need.
Status check_quotas(const DesignInput& input, const Design& design);

std::vector<QuotaUse> quota_uses(const InstanceType& type, const Survey& survey);

}  // namespace radl::openstack
