#include "runtime/plan/budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "common/text.h"
#include "runtime/plan/cost_rows.h"

namespace radl {
namespace {

Status not_a_budget(const std::string& text) {
  return invalid(fmt::format("--max-cost '{}': no amount of money", text))
      .with_hint("write an amount an hour or a month: 2.50, '2.50 EUR/h', '1800 USD/month'");
}

// What the nodes would cost on the spot market, as far as the catalogue knows; nullopt: of some it does not.
std::optional<MoneySum> on_spot(const Plan& plan) {
  MoneySum sum;
  bool cheaper = false;
  for (const ResourceCost& cost : plan.costs) {
    const bool offered = !cost.candidates.empty() && !cost.after.zero();
    const OfferFacts* facts = offered ? &cost.candidates[cost.chosen].facts : nullptr;
    if (facts && facts->market == "on-demand") {
      if (!facts->spot) return std::nullopt;
      sum.add(*facts->spot);
      cheaper = true;
    } else {
      sum.add(cost.after);
    }
  }
  return cheaper ? std::optional(sum) : std::nullopt;
}

// How many nodes of the most expensive row would fit if everything else stays the same.
std::string fewer_nodes(const Plan& plan, int64_t over) {
  const CostRow* dearest = nullptr;
  const std::vector<CostRow> rows = cost_rows(plan);
  for (const CostRow& row : rows)
    if (row.count > 1 && (!dearest || row.after.micros > dearest->after.micros)) dearest = &row;
  if (!dearest || dearest->each.micros <= 0) return "";
  const int64_t less = (over + dearest->each.micros - 1) / dearest->each.micros;
  const int64_t left = static_cast<int64_t>(dearest->count) - less;
  if (left <= 0) return "";
  return fmt::format("{} of {} would fit", left, dearest->name);
}

std::string what_would_fit(const Plan& plan, const Money& limit, int64_t over) {
  std::string hint;
  if (auto spot = on_spot(plan)) {
    auto total = spot->total(limit.currency);
    if (total.ok() && total->micros <= limit.micros)
      hint = fmt::format("with spot = 'yes' it would cost {}/h", total->text());
  }
  if (std::string fewer = fewer_nodes(plan, over); !fewer.empty()) hint += (hint.empty() ? "" : "; ") + fewer;
  return hint.empty() ? "no plan of this file fits; request smaller nodes, or fewer" : hint;
}

Status check_priced(const Plan& plan) {
  for (const ResourceCost& cost : plan.costs) {
    if (cost.priced()) continue;
    return invalid(fmt::format("--max-cost: the price of {} ({}) is unknown", cost.address, cost.machine))
        .with_hint("`radlc catalog update --from-price-list` fetches prices");
  }
  return {};
}

// In the plan's currency.
Result<Money> total_of(const Plan& plan, const Budget& budget) {
  auto total = plan.totals.price_per_hour.total(budget.per_hour.currency);
  if (!total.ok()) return Status(total.status()).with_hint("--max-cost needs a plan in one currency");
  if (!budget.any_currency && !total->zero() && total->currency != budget.per_hour.currency) {
    return invalid(fmt::format("--max-cost is in {} and the plan in {}; radlc does not convert currencies",
                               budget.per_hour.currency, total->currency));
  }
  return total;
}

}  // namespace

Result<Budget> parse_budget(const std::string& text) {
  std::string_view rest = trim(text);
  double units = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), units);
  if (error != std::errc() || !(units >= 0)) return not_a_budget(text);
  rest = trim(rest.substr(static_cast<size_t>(end - rest.data())));
  size_t slash = rest.find('/');
  const std::string unit = slash == rest.npos ? "h" : to_lower(trim(rest.substr(slash + 1)));
  const std::string_view currency = trim(rest.substr(0, slash));
  if (unit == "month") {
    units /= kHoursAMonth;
  } else if (unit != "h" && unit != "hour") {
    return not_a_budget(text);
  }
  Budget budget;
  budget.any_currency = currency.empty();
  if (!currency.empty()) {
    const bool code = currency.size() == 3 && std::all_of(currency.begin(), currency.end(), [](char c) {
                        return std::isalpha(static_cast<unsigned char>(c)) != 0;
                      });
    if (!code) return not_a_budget(text);
    budget.per_hour.currency = currency;
    for (char& c : budget.per_hour.currency)
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (!Money::parse(units, budget.per_hour.micros)) return not_a_budget(text);
  return budget;
}

Status check_budget(const Plan& plan, const Budget& budget) {
  if (Status priced = check_priced(plan); !priced.ok()) return priced;
  auto total = total_of(plan, budget);
  if (!total.ok()) return std::move(total).status();
  if (total->micros <= budget.per_hour.micros) return {};
  const Money limit{budget.per_hour.micros, total->currency};
  return invalid(fmt::format("the plan costs {}/h, --max-cost allows {}/h", total->text(), limit.text()))
      .with_hint(what_would_fit(plan, limit, total->micros - limit.micros));
}

void keep_within(Plan& plan, const Budget& budget) {
  auto total = total_of(plan, budget);
  if (!total.ok()) return;
  const auto has_choice = [](const Action& action) { return action.offers.size() > 1; };
  const auto choosing = std::count_if(plan.actions.begin(), plan.actions.end(), has_choice);
  if (choosing == 0) return;
  // All of them may fall back in one run, so each has its share of what is left.
  const int64_t share = std::max<int64_t>(budget.per_hour.micros - total->micros, 0) / choosing;
  std::set<std::string> dearer;
  for (Action& action : plan.actions) {
    if (!has_choice(action)) continue;
    const Offer& chosen = action.offers[action.chosen];
    const auto fits = [&](const Offer& offer) {
      return offer.facts.priced && offer.price_per_hour.currency == chosen.price_per_hour.currency &&
             offer.price_per_hour.micros - chosen.price_per_hour.micros <= share;
    };
    std::vector<Offer> kept;
    size_t at = 0;
    for (size_t i = 0; i < action.offers.size(); ++i) {
      if (i == action.chosen) at = kept.size();
      if (i == action.chosen || fits(action.offers[i]))
        kept.push_back(action.offers[i]);
      else
        dearer.insert(std::string(trim(action.offers[i].name + " " + action.offers[i].facts.market)));
    }
    action.offers = std::move(kept);
    action.chosen = at;
  }
  if (!dearer.empty())
    plan.notes.push_back(
        fmt::format("--max-cost leaves no room to fall back to {}", fmt::join(dearer, ", ")));
}

}  // namespace radl
