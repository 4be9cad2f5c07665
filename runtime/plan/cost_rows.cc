#include "runtime/plan/cost_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/human.h"
#include "runtime/base/world.h"
#include "runtime/catalog/burstable.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/render.h"

namespace radl {
namespace {

constexpr int64_t kCent = 10000;  // millionths

// Alike but for the ordinal: one row of a table.
struct Like {
  CostRow row;
  std::string prefix;
  std::vector<int> ordinals;
};

std::string named(const ResourceCost& cost) { return cost.machine; }

bool alike(const ResourceCost& a, const ResourceCost& b) {
  return named(a) == named(b) && a.before == b.before && a.after == b.after && a.priced() == b.priced();
}

Money times(const Money& price, size_t count) {
  MoneySum sum;
  for (size_t i = 0; i < count; ++i) sum.add(price);
  const std::vector<Money> amounts = sum.amounts();
  return amounts.empty() ? price : amounts[0];
}

Money month_of(const Money& an_hour) {
  Money month = times(an_hour, kHoursAMonth);
  const int64_t rest = month.micros % kCent;
  month.micros += rest * 2 >= kCent ? kCent - rest : -rest;
  return month;
}

}  // namespace

std::vector<CostRow> cost_rows(const Plan& plan) {
  std::vector<Like> likes;
  for (const ResourceCost& cost : plan.costs) {
    std::string prefix, suffix;
    int ordinal = 0;
    const bool folds = split_ordinal(cost.address, prefix, ordinal, suffix);
    auto like = std::find_if(likes.begin(), likes.end(), [&](const Like& one) {
      return folds && one.prefix == prefix && alike(*one.row.cost, cost);
    });
    if (like == likes.end()) {
      likes.push_back({{&cost, cost.address, 1, {}, {}, {}}, prefix, {}});
      like = likes.end() - 1;
    }
    if (folds) like->ordinals.push_back(ordinal);
  }
  std::vector<CostRow> rows;
  for (Like& like : likes) {
    CostRow& row = like.row;
    row.count = std::max<size_t>(like.ordinals.size(), 1);
    if (!like.ordinals.empty()) row.name = like.prefix + "[" + ranges(like.ordinals) + "]";
    row.each = row.cost->after.zero() ? row.cost->before : row.cost->after;
    row.before = times(row.cost->before, row.count);
    row.after = times(row.cost->after, row.count);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string amount_text(const CostRow& row, const Money& amount) {
  return row.cost->priced() || !amount.zero() ? amount.text() : "not known";
}

std::string month_text(const CostRow& row) {
  return row.cost->priced() || !row.after.zero() ? month_text(row.after) : "not known";
}

std::string unpriced_text(const Plan& plan) {
  const auto count = std::count_if(plan.costs.begin(), plan.costs.end(),
                                   [](const ResourceCost& cost) { return !cost.priced(); });
  if (count == 0) return "";
  return count == 1 ? " and an unknown price" : fmt::format(" and {} unknown prices", count);
}

bool costs_anything(const Plan& plan) {
  return std::any_of(plan.costs.begin(), plan.costs.end(), [](const ResourceCost& cost) {
    const bool unknown = std::any_of(cost.candidates.begin(), cost.candidates.end(),
                                     [](const Offer& offer) { return !offer.facts.priced; });
    return unknown || !cost.before.zero() || !cost.after.zero();
  });
}

std::string month_text(const Money& an_hour) { return month_of(an_hour).text(); }

std::string month_text(const MoneySum& an_hour, const std::string& currency) {
  std::string text;
  for (const Money& amount : an_hour.amounts()) text += (text.empty() ? "" : " and ") + month_text(amount);
  return text.empty() ? Money{0, currency}.text() : text;
}

std::string shape_text(const OfferFacts& facts) {
  if (facts.cpu <= 0) return "";
  std::string text = fmt::format("{} cpu, {}", plain_number(facts.cpu), size_text(facts.memory_bytes));
  if (facts.gpu > 0)
    text +=
        fmt::format(", {} {}", plain_number(facts.gpu), facts.gpu_model.empty() ? "gpu" : facts.gpu_model);
  return text;
}

std::string offer_price_text(const Offer& offer) {
  return offer.facts.priced ? offer.price_per_hour.text() : "not known";
}

std::string other_market_text(const OfferFacts& facts) {
  if (facts.market == "on-demand") return facts.spot ? "spot " + facts.spot->text() : "";
  if (facts.market == "spot") return facts.on_demand ? "on-demand " + facts.on_demand->text() : "";
  return "";
}

std::string preference_text(const ResourceCost& cost) {
  const std::vector<Offer>& all = cost.candidates;
  if (all.size() < 2 || cost.chosen >= all.size()) return "";
  std::vector<size_t> named;
  const size_t next = cost.chosen + 1;
  if (next < all.size()) named.push_back(next);
  size_t cheapest = cost.chosen;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].facts.priced && all[i].price_per_hour.currency == all[cheapest].price_per_hour.currency &&
        all[i].price_per_hour.micros < all[cheapest].price_per_hour.micros)
      cheapest = i;
  }
  if (cheapest != cost.chosen && cheapest != next) named.push_back(cheapest);
  if (named.empty()) named.push_back(0);
  const std::string cloud = cost.cloud.substr(0, cost.cloud.find(':'));
  std::vector<std::string> parts;
  for (const size_t at : named) {
    const Offer& offer = all[at];
    const std::string type = offer.name.substr(0, offer.name.find(' '));  // without " in REGION"
    // The same type in the other market differs by nothing else.
    const bool other_market = offer.name == all[cost.chosen].name;
    parts.push_back(offer.name + (other_market ? " " + offer.facts.market : "") + " " +
                    (offer.facts.priced ? offer.price_per_hour.text() : "without a known price") +
                    (burstable(cloud, type) != nullptr ? " (burstable)" : ""));
  }
  const size_t rest = all.size() - 1 - named.size();
  if (rest > 0) parts.push_back(counted(rest, "other"));
  std::string text = "preferred to " + parts[0];
  for (size_t i = 1; i < parts.size(); ++i) text += (i + 1 < parts.size() ? ", " : " and ") + parts[i];
  return text;
}

std::vector<std::string> cost_remarks(const Plan& plan) {
  std::vector<std::string> remarks;
  if (std::string dates = price_dates(plan); !dates.empty()) {
    remarks.push_back(dates);
    remarks.push_back("Volumes, public addresses and traffic are not counted.");
  }
  if (costs_anything(plan)) remarks.push_back(fmt::format("A month is {} hours.", kHoursAMonth));
  return remarks;
}

std::string price_text(const MoneySum& sum, const std::string& currency) {
  std::string text;
  for (const Money& amount : sum.amounts()) text += (text.empty() ? "" : " and ") + amount.text() + "/h";
  return text.empty() ? Money{0, currency}.text() + "/h" : text;
}

std::string price_dates(const Plan& plan) {
  std::map<std::string, std::set<std::string>> clouds;  // by what their prices are of
  for (const ResourceCost& cost : plan.costs) {
    if (cost.after.zero()) continue;
    auto survey = plan.surveys.find(cost.cloud);
    if (survey == plan.surveys.end() && plan.catalog.empty()) continue;
    clouds[survey == plan.surveys.end() ? "of the catalog of " + plan.catalog
                                        : "as surveyed at " + utc_time(survey->second.taken_at)]
        .insert(cost.cloud);
  }
  std::string text;
  for (const auto& [when, of] : clouds) {
    text += (text.empty() ? "Prices are " : ", ") + when;
    if (clouds.size() == 1) continue;
    std::string names;
    for (const std::string& name : of) names += (names.empty() ? "" : ", ") + name;
    text += " (" + names + ")";
  }
  return text.empty() ? "" : text + ".";
}

std::string totals_text(const PlanTotals& totals, const std::string& currency) {
  std::string now = price_text(totals.price_per_hour, currency);
  if (totals.price_per_hour == totals.price_per_hour_before || totals.price_per_hour_before.zero())
    return now;
  return price_text(totals.price_per_hour_before, currency) + " -> " + now;
}

}  // namespace radl
