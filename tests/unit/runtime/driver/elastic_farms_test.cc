// How far an elastic farm may grow later, and what becomes of nodes that a plan has no budget for.
#include "runtime/driver/elastic_farms.h"

#include <gtest/gtest.h>

#include "runtime/driver/project.h"
#include "runtime/plan/forecast.h"

namespace radl::driver {
namespace {

struct ElasticFarmTest : testing::Test {
  ElasticFarmTest() {
    ElasticFarm farm;
    farm.step.id = "program/a";
    farm.system = "a";
    farm.most = 8;
    project.farms = {farm};
    has({0, 1});
  }
  // The plan has these nodes, for 0.10 USD an hour each, beside something else for 1 USD.
  void has(const std::vector<int>& ordinals) {
    project.scaled["a"] = {8, ordinals};
    plan = Plan();
    plan.totals.price_per_hour.add(Money::of(1));
    for (const int ordinal : ordinals) {
      ResourceCost cost;
      cost.address = "a[" + std::to_string(ordinal) + "]";
      cost.after = Money::of(0.1);
      plan.totals.price_per_hour.add(cost.after);
      plan.costs.push_back(cost);
    }
  }
  FarmGrowth growth(const std::string& budget) {
    project.farm_nodes.budget.reset();
    if (!budget.empty()) project.farm_nodes.budget = *parse_budget(budget);
    return growth_of(project, plan, project.farms.front());
  }
  Snapshot with_nodes(const std::vector<int>& ordinals) {
    Snapshot now;
    for (const int ordinal : ordinals) {
      ResourceRecord node;
      node.address = "a[" + std::to_string(ordinal) + "]";
      node.system = "a";
      node.ordinal = ordinal;
      now.resources[node.address] = node;
    }
    return now;
  }

  Project project;
  Plan plan;
};

TEST_F(ElasticFarmTest, GrowsToTheNodesOfTheFileUnlessABudgetAllowsFewer) {
  EXPECT_EQ(growth("").nodes, 8u);
  EXPECT_EQ(*growth("").per_hour, Money::of(0.8));
  EXPECT_EQ(growth("1.55").nodes, 5u) << "three more for 0.35 USD";
  EXPECT_EQ(*growth("1.55").per_hour, Money::of(0.5));
  EXPECT_EQ(growth("1.20").nodes, 2u) << "nothing is left";
  EXPECT_EQ(growth("100").nodes, 8u);
  project.farms.push_back(project.farms.front());
  project.farms.back().system = "b";
  EXPECT_EQ(growth("1.60").nodes, 4u) << "two farms share 0.40 USD";
}

TEST_F(ElasticFarmTest, OfAnUnknownPriceNothingIsSaid) {
  has({0});
  plan.costs[0].candidates.resize(1);
  plan.costs[0].candidates[0].facts.priced = false;
  EXPECT_EQ(growth("").nodes, 8u);
  EXPECT_FALSE(growth("").per_hour);
}

TEST_F(ElasticFarmTest, KeepsTheNodesThatExistIfThePlanCostsTooMuch) {
  project.farm_nodes.asked["a"] = {0, 1, 2, 3};
  EXPECT_TRUE(keep_existing_nodes(project, with_nodes({0, 1, 2}), {"a[1]"}));
  EXPECT_EQ(project.farm_nodes.asked["a"], (std::vector<int>{0, 2}));
  EXPECT_FALSE(keep_existing_nodes(project, with_nodes({0, 1, 2}), {"a[1]"})) << "it asks for no others";
}

TEST_F(ElasticFarmTest, ANodeThatCouldNotBeMadeFailsNoRoundInWhichItsFarmEndsWell) {
  using State = ActionOutcome::State;
  const auto round = [&](State farm, const std::string& failed, Verb verb = Verb::Create) {
    RunReport report;
    for (const auto& [id, state] :
         {std::pair<std::string, State>{failed, State::Failed}, {"program/a", farm}}) {
      ActionOutcome outcome;
      outcome.id = id;
      outcome.state = state;
      outcome.verb = verb;
      if (state == State::Failed) outcome.status = report.status = Status(Code::Quota, id + " failed");
      report.actions.push_back(outcome);
    }
    forgive_missing_nodes(project.farms, report);
    return report;
  };
  const RunReport well = round(State::Done, "a[1]");
  EXPECT_TRUE(well.status.ok());
  EXPECT_EQ(well.actions[0].state, State::Skipped);
  EXPECT_FALSE(round(State::Failed, "a[1]").status.ok());
  EXPECT_FALSE(round(State::Done, "b[1]").status.ok()) << "a node of another system";
  EXPECT_FALSE(round(State::Done, "a[1]", Verb::Delete).status.ok()) << "it is still paid for";
}

}  // namespace
}  // namespace radl::driver
