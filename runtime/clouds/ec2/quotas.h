// Checks whether a design fits the account's quotas known from a survey. Pure.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

// A quota of vCPUs in use, per machine kind and market, with the code of Service Quotas.
struct VcpuQuota {
  std::string code, name;  // "L-1216C47A", "on-demand standard instances (A, C, D, H, I, M, R, T, Z)"
};
// Code "": no quota is known for the type.
VcpuQuota vcpu_quota(const std::string& instance_type, bool spot);

// A note for each quota that the chosen offers exceed, or the reason why quotas are unavailable.
// Survey::facts: "quotas": {code: value}, or "quotas_unknown": reason.
std::vector<std::string> quota_notes(const CloudId& cloud, const Design& design, const Survey& survey);

// The survey does not know other uses of the quota, so the available amount is the whole quota.
std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey);

}  // namespace radl::ec2
