// `--max-cost`: what a plan may cost at most, and what would fit where it costs more. Pure.
#pragma once

#include <optional>
#include <string>

#include "runtime/plan/plan.h"

namespace radl {

struct Budget {
  Money per_hour;
  bool any_currency = false;  // the amount was written without one: whatever the plan's is
};

// "2.50", "2.50/h", "2.50 EUR/h", "1800 USD/month" (of 730 hours). Invalid: anything else.
Result<Budget> parse_budget(const std::string& text);

// Invalid where the plan costs more, where its prices are of several currencies or another one, and where the
// price of something is not known. The hint says what would fit: the spot market, or how many nodes.
Status check_budget(const Plan& plan, const Budget& budget);

// Takes away the offers that nodes could become when the chosen one is not to be had, as far as they would
// take the plan above its budget, so that an apply stays within it whatever it falls back to; a note names
// them.
void keep_within(Plan& plan, const Budget& budget);

}  // namespace radl
