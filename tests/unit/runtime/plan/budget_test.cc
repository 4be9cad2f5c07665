// --max-cost: what is refused, and what would fit.
#include "runtime/plan/budget.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

Offer offer(const std::string& name, double on_demand, std::optional<double> spot,
            const std::string& market = "on-demand") {
  Offer offer{name, "", Money::of(market == "spot" ? *spot : on_demand), Json::object(), {}};
  offer.facts.market = market;
  offer.facts.on_demand = Money::of(on_demand);
  if (spot) offer.facts.spot = Money::of(*spot);
  return offer;
}

Plan of_workers(int count, double each, std::optional<double> spot) {
  Plan plan;
  for (int i = 0; i < count; ++i) {
    ResourceCost cost{"worker[" + std::to_string(i) + "]", "ec2", "ec2 m", {}, Money::of(each)};
    cost.candidates = {offer("m", each, spot)};
    plan.totals.price_per_hour.add(cost.after);
    plan.costs.push_back(cost);
  }
  return plan;
}

Status check(const Plan& plan, const std::string& limit) { return check_budget(plan, *parse_budget(limit)); }

TEST(Budget, AmountsAsPeopleWriteThem) {
  EXPECT_EQ(parse_budget("2.50")->per_hour.micros, 2500000);
  EXPECT_TRUE(parse_budget("2.50")->any_currency);
  EXPECT_EQ(parse_budget(" 2.50 eur/h ")->per_hour.text(), "2.50 EUR");
  EXPECT_EQ(parse_budget("1460 USD/month")->per_hour.text(), "2.00 USD");
  EXPECT_EQ(parse_budget("3/hour")->per_hour.micros, 3000000);
  for (const char* wrong : {"", "much", "-1", "2.5 dollars", "2/day", "1e999", "nan", "2.5 E1R"})
    EXPECT_FALSE(parse_budget(wrong).ok()) << wrong;
}

TEST(Budget, WhatFitsIsTaken) {
  EXPECT_TRUE(check(of_workers(3, 0.1, {}), "0.30").ok());
  EXPECT_TRUE(check(of_workers(3, 0.1, {}), "219.01 USD/month").ok());
  EXPECT_TRUE(check(Plan(), "0").ok());
}

TEST(Budget, WhatDoesNotFitSaysWhatWould) {
  Status status = check(of_workers(5, 0.1, 0.03), "0.25");
  EXPECT_EQ(status.code(), Code::Invalid);
  EXPECT_EQ(status.message(), "the plan costs 0.50 USD/h, --max-cost allows 0.25 USD/h");
  EXPECT_EQ(status.hint(), "with spot = 'yes' it would cost 0.15 USD/h; 2 of worker[0..4] would fit");
  EXPECT_EQ(check(of_workers(5, 0.1, {}), "0.05").hint(),
            "no plan of this file fits; request smaller nodes, or fewer");
}

TEST(Budget, CurrenciesAreNeverCompared) {
  EXPECT_EQ(check(of_workers(1, 0.1, {}), "5 EUR/h").message(),
            "--max-cost is in EUR and the plan in USD; radlc does not convert currencies");
  Plan two = of_workers(1, 0.1, {});
  two.totals.price_per_hour.add(Money::of(1, "EUR"));
  Status status = check(two, "100");
  EXPECT_NE(status.message().find("EUR"), std::string::npos) << status.text();
  EXPECT_FALSE(status.ok());
}

TEST(Budget, AnUnknownPriceFitsNoBudget) {
  Plan plan = of_workers(1, 0, {});
  plan.costs[0].candidates[0].facts.priced = false;
  EXPECT_EQ(check(plan, "100").message(), "--max-cost: the price of worker[0] (ec2 m) is unknown");
}

TEST(Budget, AnApplyFallsBackToNothingAboveIt) {
  Plan plan = of_workers(2, 0.1, {});
  for (int i = 0; i < 2; ++i) {
    Action& action = plan.actions.emplace_back();
    action.offers = {offer("dear", 0.5, {}), offer("m", 0.1, {}), offer("n", 0.15, {}), offer("o", 0.2, {})};
    action.chosen = 1;
  }
  keep_within(plan, *parse_budget("0.31"));  // 0.11 are left, 0.055 for each
  for (const Action& action : plan.actions) {
    ASSERT_EQ(action.offers.size(), 2u);
    EXPECT_EQ(action.offers[action.chosen].name, "m");
    EXPECT_EQ(action.offers[1].name, "n");
  }
  EXPECT_EQ(plan.notes, std::vector<std::string>{
                            "--max-cost leaves no room to fall back to dear on-demand, o on-demand"});
  keep_within(plan, *parse_budget("0.31"));
  EXPECT_EQ(plan.notes.size(), 1u) << "all that is left fits";
}

}  // namespace
}  // namespace radl
