// Quotas that machines take from by amounts (vCPUs, graphics processors, their own number), for clouds that
// say what is used.
//
// A survey's facts hold {"quotas": {NAME: {"limit", "used"}}, "own": {"TYPE" | "TYPE/spot": machines}}; "own"
// is what this infrastructure has of what is used.
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

// What one machine of the type takes. Of a type that is not in the catalogue the name alone is known.
using QuotasTaken = std::function<std::vector<QuotaTaken>(const InstanceType&, Market)>;

// One machine more in "own".
void count_own(Json& facts, const std::string& type, Market market);

// Quota: the design needs more than there is; names quota, limit and need. `more`: how to ask for more.
Status check_machine_quotas(const CloudId& cloud, const DesignInput& input, const Design& design,
                            const QuotasTaken& taken, const std::string& more);

// Of the quotas that the survey has, those that such a machine takes from.
std::vector<QuotaUse> machine_quota_uses(const CloudId& cloud, const InstanceType& type, Market market,
                                         const Survey& survey, const Catalog& catalog,
                                         const QuotasTaken& taken);

}  // namespace radl
