// What soft features cost: which of the groups that a system gets make its nodes dearer.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"
#include "runtime/plan/softs.h"

namespace radl {

// In: how a node's groups were resolved, the offer that it has with all of them, how many nodes of its system
// have the same. Out: one note for each group that raises the price per hour, with the cheaper offer that the
// node would have without it. A group of a node that its cloud cannot price without it is left out.
std::vector<std::string> soft_price_notes(const Cloud& cloud, const DesignInput& input,
                                          const SoftOutcome& outcome, const Offer& with_all, size_t nodes);

}  // namespace radl
