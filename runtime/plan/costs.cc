// What the plan costs, and its sums.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/plan/build.h"
#include "runtime/plan/graph.h"

namespace radl {

namespace {

constexpr int kPricesKeepDays = 180;

void count(PlanTotals& totals, const Action& action) {
  switch (action.verb) {
    case Verb::Create:
      ++totals.create;
      break;
    case Verb::Update:
      ++totals.update;
      break;
    case Verb::Replace:
      ++totals.replace;
      break;
    case Verb::Delete:
      ++totals.remove;
      break;
    case Verb::Run:
      ++totals.run;
      break;
    case Verb::Forget:
      ++totals.forget;
      break;
  }
}

void predict_along(Plan& plan, const PlanGraph& graph) {
  plan.totals.seconds_complete = true;
  for (const Action& action : plan.actions) plan.totals.seconds_complete &= action.seconds.has_value();
  plan.totals.seconds = graph.dag.longest_path([&](Dag::Id id) {
    const PlanVertex& vertex = graph.vertices[id];
    if (vertex.phase == PlanVertex::Phase::Barrier) return 0.0;
    const Action& action = plan.actions[vertex.index];
    // A removal takes about a second with every cloud that we know.
    if (vertex.phase == PlanVertex::Phase::Remove) return 1.0;
    return action.seconds.value_or(0);
  });
}

// Nodes by system and ordinal, then the rest by address.
using Place = std::tuple<bool, std::string, int, std::string>;

Place place_of(const std::string& address, const ir::Node* node) {
  return node ? Place{false, node->system, node->ordinal, address} : Place{true, "", 0, address};
}

Place place_of(const ResourceRecord& record) {
  return {!record.is_node(), record.system, record.ordinal, record.address};
}

// A plan is as old as the oldest of its prices that no survey has brought.
void note_date(const Draft& draft, Plan& plan, const Desired& desired) {
  if (!desired.has_offers() || draft.input.surveys.count(desired.cloud) > 0) return;
  const std::string& as_of = desired.wanted.offers[desired.offer].facts.as_of;
  if (!as_of.empty() && (plan.catalog.empty() || as_of < plan.catalog)) plan.catalog = as_of;
}

// What it has or will have, and what else it could be. Zones are no candidates of their own.
void note_candidates(const Desired& desired, ResourceCost& cost) {
  const std::vector<Offer>& offers = desired.wanted.offers;
  for (size_t i = 0; i < offers.size(); ++i) {
    auto same = std::find_if(cost.candidates.begin(), cost.candidates.end(), [&](const Offer& known) {
      return known.name == offers[i].name && known.facts.market == offers[i].facts.market;
    });
    if (i == desired.offer) cost.chosen = static_cast<size_t>(same - cost.candidates.begin());
    if (same == cost.candidates.end()) cost.candidates.push_back(offers[i]);
  }
  if (cost.candidates.size() == 1 && cost.candidates[0].facts.market.empty() &&
      cost.candidates[0].facts.priced)
    cost.candidates.clear();
}

// Days since 1970-01-01 of "2025-11-03"; nullopt: no date.
std::optional<int> day_of(const std::string& date) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(date.c_str(), "%4d-%2u-%2u", &year, &month, &day) != 3) return std::nullopt;
  const std::chrono::year_month_day whole = std::chrono::year(year) / month / day;
  if (!whole.ok()) return std::nullopt;
  return std::chrono::sys_days(whole).time_since_epoch().count();
}

// The date of the oldest price of the other market shown beside the candidates' own prices; empty: none has a
// date.
std::string oldest_beside(const Draft& draft) {
  std::string oldest;
  for (const ResourceCost& cost : draft.plan.costs) {
    if (draft.input.surveys.count(cost.cloud) > 0) continue;
    for (const Offer& one : cost.candidates) {
      const std::string& as_of = one.facts.beside_as_of;
      if (!as_of.empty() && (oldest.empty() || as_of < oldest)) oldest = as_of;
    }
  }
  return oldest;
}

void note_age(Draft& draft, const char* what, const std::string& as_of) {
  const auto today = day_of(draft.input.options.today), priced = day_of(as_of);
  if (!today || !priced || *today - *priced <= kPricesKeepDays) return;
  draft.plan.notes.push_back(
      fmt::format("{} date from {}, {} days ago; `radlc catalog update` imports newer ones", what, as_of,
                  *today - *priced));
}

void note_ages(Draft& draft) {
  note_age(draft, "prices", draft.plan.catalog);
  const std::string beside = oldest_beside(draft);
  if (beside < draft.plan.catalog) note_age(draft, "prices of the other market (spot, on-demand)", beside);
}

}  // namespace

void plan_costs(Draft& draft) {
  std::map<Place, ResourceCost> costs;
  for (const auto& [address, record] : draft.input.snapshot.resources) {
    ResourceCost cost{address, record.cloud, record.cloud, record.price_per_hour, {}};
    cost.after.currency = cost.before.currency;
    if (draft.left_out.count(address)) cost.after = cost.before;
    costs[place_of(record)] = std::move(cost);
  }
  for (const Desired& desired : draft.desired.resources) {
    const std::string& address = desired.wanted.address;
    if (draft.left_out.count(address)) continue;
    ResourceCost& cost = costs[place_of(address, desired.node)];
    if (cost.address.empty()) cost.before.currency = desired.price().currency;
    cost.address = address;
    cost.cloud = cost.machine = desired.cloud;
    const std::string name = desired.has_offers() ? desired.wanted.offers[desired.offer].name : "";
    if (!name.empty() && name != desired.cloud) cost.machine += " " + name;
    cost.after = desired.price();
    note_date(draft, draft.plan, desired);
    note_candidates(desired, cost);
  }
  for (auto& [place, cost] : costs) {
    const bool is_node = !std::get<0>(place);
    if (is_node || !cost.before.zero() || !cost.after.zero()) draft.plan.costs.push_back(std::move(cost));
  }
  note_ages(draft);
}

void predict(Plan& plan) {
  Result<PlanGraph> graph = plan_graph(plan);
  if (graph.ok()) predict_along(plan, *graph);
}

void add_totals(Plan& plan, const PlanGraph& graph) {
  for (const ResourceCost& cost : plan.costs) {
    plan.totals.price_per_hour_before.add(cost.before);
    plan.totals.price_per_hour.add(cost.after);
  }
  for (const Action& action : plan.actions) count(plan.totals, action);
  predict_along(plan, graph);
}

void add_totals(Plan& plan) {
  Result<PlanGraph> graph = plan_graph(plan);
  add_totals(plan, graph.ok() ? *graph : PlanGraph());
}

Plan removal_plan(const Snapshot& snapshot, std::set<std::string> except) {
  Plan plan;
  keep_what_released_use(snapshot, plan, except);
  note_other_runs(snapshot, plan);
  plan.infrastructure = snapshot.name;
  plan.source_digest = snapshot.source_digest;
  plan.lineage = snapshot.lineage;
  plan.serial = snapshot.serial;
  for (const ResourceRecord* record : in_removal_order(snapshot, except)) {
    plan.actions.push_back(removal(*record, "destroy"));
    if (!record->is_node() && record->price_per_hour.zero()) continue;
    const Money nothing{0, record->price_per_hour.currency};
    plan.costs.push_back({record->address, record->cloud, record->cloud, record->price_per_hour, nothing});
  }
  removal_edges(snapshot, plan);
  add_totals(plan);
  return plan;
}

}  // namespace radl
