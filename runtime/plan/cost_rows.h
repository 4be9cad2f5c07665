// What a plan costs, as tables show it: nodes that are alike are one row. Internal to runtime/plan's
// renderers.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

// A month of price lists: 365 days of 24 hours, by twelve.
inline constexpr int kHoursAMonth = 730;

struct CostRow {
  const ResourceCost* cost = nullptr;  // of the first
  std::string name;                    // "worker[0..2]"
  size_t count = 1;
  Money each;           // now, or before where it goes
  Money before, after;  // of all of them, an hour
};

std::vector<CostRow> cost_rows(const Plan& plan);
// False: all that is in the plan is free, and there is nothing to show.
bool costs_anything(const Plan& plan);
// An amount of the row, or of a month of it; "not known" where nothing says it.
std::string amount_text(const CostRow& row, const Money& amount);
std::string month_text(const CostRow& row);
// "0.10 USD/h", or "0.10 USD/h -> 0.20 USD/h" where it changes.
std::string totals_text(const PlanTotals& totals, const std::string& currency);
// " and 3 prices that are not known", of as many nodes; empty where all are.
std::string unpriced_text(const Plan& plan);
// "78.11 USD", to the cent; amounts of different currencies stand side by side.
std::string month_text(const MoneySum& an_hour, const std::string& currency);
std::string month_text(const Money& an_hour);
// "2 cpu, 8 GiB, 1 NVIDIA T4"; empty where nothing of it is known.
std::string shape_text(const OfferFacts& facts);
// "0.107 USD", "not known".
std::string offer_price_text(const Offer& offer);
// The price in the market that it is not taken from: "spot 0.0494 USD"; empty where it is not known.
std::string other_market_text(const OfferFacts& facts);
// "preferred to m7a.medium 0.0646 USD, t3.small 0.0228 USD (burstable) and 3 others": the next candidate, the
// cheapest one if it is cheaper than the chosen one, and the number of the rest. Empty if there was no
// choice.
std::string preference_text(const ResourceCost& cost);
// What a reader of the table should know of its figures, one by one.
std::vector<std::string> cost_remarks(const Plan& plan);

}  // namespace radl
