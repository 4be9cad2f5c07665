// Whether what a design asks for is within the account's quotas, as far as a survey knows them. Pure.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

// Of vCPUs in use, by kind of machine and market; the code is Service Quotas' own.
struct VcpuQuota {
  std::string code, name;  // "L-1216C47A", "on-demand standard instances (A, C, D, H, I, M, R, T, Z)"
};
// Code "": none is known for that type.
VcpuQuota vcpu_quota(const std::string& instance_type, bool spot);

// A note for each quota that the chosen offers are above; and why there is none where they could not be
// read. Survey::facts: "quotas": {code: value}, or "quotas_unknown": why.
std::vector<std::string> quota_notes(const CloudId& cloud, const Design& design, const Survey& survey);

// How much of it others use the survey does not know: the room is the whole quota.
std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey);

}  // namespace radl::ec2
