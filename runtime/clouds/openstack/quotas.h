// How much a project may have, and how much of it a design needs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// What of the project's machines is this infrastructure's own.
struct Ours {
  double cores = 0, memory_mib = 0;
  std::set<std::string> servers;  // ids
};
Result<Ours> ours_of(Asking& call, const std::vector<Flavor>& flavors);

// {name: {"limit", "used", "ours"}}; "ours": of what is used what this infrastructure has. -1 as a limit:
// there is none. What a cloud does not tell is left out.
Result<Json> survey_quotas(Asking& call, const Ours& ours, const std::string& project);

// Quota: the design needs more than a survey says that there is; names quota, limit and need.
Status check_quotas(const DesignInput& input, const Design& design);

std::vector<QuotaUse> quota_uses(const InstanceType& type, const Survey& survey);

}  // namespace radl::openstack
