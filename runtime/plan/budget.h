// `--max-cost`: limits a plan's price, and suggests what would fit. Pure.
#pragma once

#include <optional>
#include <string>

#include "runtime/plan/plan.h"

namespace radl {

struct Budget {
  Money per_hour;
  bool any_currency = false;  // written without a currency: the plan's is used
};

// Parses "2.50", "2.50/h", "2.50 EUR/h", "1800 USD/month" (730 hours). Invalid: anything else.
Result<Budget> parse_budget(const std::string& text);

// Invalid: the plan costs more, prices are in several or other currencies, or a price is unknown. The hint
// says what would fit: the spot market, or a number of nodes.
Status check_budget(const Plan& plan, const Budget& budget);

// Removes fallback offers that would exceed the plan's budget, so that an
// apply stays within it whatever it falls back to; adds a note that lists
// them.
void keep_within(Plan& plan, const Budget& budget);

}  // namespace radl
