// The cost of soft features: which accepted groups make a system's nodes more expensive.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"
#include "runtime/plan/softs.h"

namespace radl {

// In: a node's resolved groups, its offer with all of them, and the number of equal nodes in its system. Out:
// a note for each group that raises the hourly price, with the cheaper offer without it. Omits groups of
// nodes that the cloud cannot price without them.
std::vector<std::string> soft_price_notes(const Cloud& cloud, const DesignInput& input,
                                          const SoftOutcome& outcome, const Offer& with_all, size_t nodes);

}  // namespace radl
