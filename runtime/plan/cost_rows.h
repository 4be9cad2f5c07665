// A plan's costs for tables, with equal nodes in one row. Internal to runtime/plan's
// renderers.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

// Hours of a month in price lists: 365 days of 24 hours, divided by twelve.
inline constexpr int kHoursAMonth = 730;

struct CostRow {
  const ResourceCost* cost = nullptr;  // of the first node
  std::string name;                    // "worker[0..2]"
  size_t count = 1;
  Money each;           // now, or before if it is removed
  Money before, after;  // per hour, for all of them
};

std::vector<CostRow> cost_rows(const Plan& plan);
// False: the plan is free, so there is nothing to show.
bool costs_anything(const Plan& plan);
// An hourly or monthly amount of the row; "not known" if unknown.
std::string amount_text(const CostRow& row, const Money& amount);
std::string month_text(const CostRow& row);
// "0.10 USD/h", or "0.10 USD/h -> 0.20 USD/h" if it changes.
std::string totals_text(const PlanTotals& totals, const std::string& currency);
// " and 3 prices that are not known", counting nodes; empty if all are known.
std::string unpriced_text(const Plan& plan);
// "78.11 USD", rounded to cents; amounts in different currencies are listed side by side.
std::string month_text(const MoneySum& an_hour, const std::string& currency);
std::string month_text(const Money& an_hour);
// "2 cpu, 8 GiB, 1 NVIDIA T4"; empty if unknown.
std::string shape_text(const OfferFacts& facts);
// "0.107 USD", "not known".
std::string offer_price_text(const Offer& offer);
// The price in the other market: "spot 0.0494 USD"; empty if unknown.
std::string other_market_text(const OfferFacts& facts);
// "preferred to m7a.medium 0.0646 USD, t3.small 0.0228 USD (burstable) and 3 others": the next
// candidate, the cheapest if it is cheaper than the chosen one, and the number of others. Empty without
// a choice.
std::string preference_text(const ResourceCost& cost);
// Remarks on the table's figures.
std::vector<std::string> cost_remarks(const Plan& plan);

}  // namespace radl
