// Quotas that machines use up in amounts (vCPUs, GPUs, machines), for clouds that report their
// use.
//
// A survey's facts hold {"quotas": {NAME: {"limit", "used"}}, "own": {"TYPE" | "TYPE/spot":
// machines}}; "own" is this infrastructure's share of the use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

struct QuotaTaken {
  std::string quota;
  double amount = 0;
};

// What one machine of the type uses. For a type missing from the catalogue, only the name is known.
using QuotasTaken = std::function<std::vector<QuotaTaken>(const InstanceType&, Market)>;

// Adds a machine to "own".
void count_own(Json& facts, const std::string& type, Market market);

// Quota: the design needs more than is available; names quota, limit and need. `more`: how to request more.
Status check_machine_quotas(const CloudId& cloud, const DesignInput& input, const Design& design,
                            const QuotasTaken& taken, const std::string& more);

// The survey's quotas that such a machine uses.
std::vector<QuotaUse> machine_quota_uses(const CloudId& cloud, const InstanceType& type, Market market,
                                         const Survey& survey, const Catalog& catalog,
                                         const QuotasTaken& taken);

}  // namespace radl
