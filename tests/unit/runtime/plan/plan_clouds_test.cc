// What clouds have to say in a plan: offers and prices, what changes in place, what was seen, what goes
// first.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

constexpr double kGB = 1e9;

ir::Program workers(int count, double disk = 0) {
  ir::Program program = ProgramBuilder().deploy({"worker", count}).build();
  for (ir::Node& node : program.nodes) {
    if (disk > 0) node.requirements["disk.0.size"].min = disk;
  }
  return program;
}

struct PlanOfClouds : testing::Test {
  void applied(const ir::Program& program) { bench.applied(program); }
  const Action& action(const Plan& plan, const std::string& id) {
    const Action* found = plan.find(id);
    EXPECT_NE(found, nullptr) << id;
    static const Action none;
    return found ? *found : none;
  }
  PlanBench bench;
};

TEST_F(PlanOfClouds, TheFirstOfferIsTakenAndTheOthersAreKeptForWhenItIsNotToBeHad) {
  bench.cloud.offers = {{"small", "a", Money::of(0.1), {{"type", "small"}, {"zone", "a"}}},
                        {"small", "b", Money::of(0.2), {{"type", "small"}, {"zone", "b"}}}};
  const Plan plan = bench.plan(workers(1));
  const Action& made = action(plan, "worker[0]");
  EXPECT_EQ(made.spec.at("zone"), "a");
  EXPECT_EQ(made.price_per_hour, Money::of(0.1));
  ASSERT_EQ(made.offers.size(), 2u);
  const Json other = offered_spec(made.base_spec, made.offers[1]);
  EXPECT_EQ(other.at("zone"), "b");
  EXPECT_EQ(other.at("memory.size"), made.spec.at("memory.size"));
  EXPECT_FALSE(made.base_spec.contains("zone"));
}

TEST_F(PlanOfClouds, AMachineThatWasMadeFromAnotherOfferStaysWhatItIs) {
  bench.cloud.offers = {{"small", "a", Money::of(0.1), {{"type", "small"}}},
                        {"large", "a", Money::of(0.2), {{"type", "large"}}}};
  applied(workers(1));
  ResourceRecord& record = bench.snapshot.resources.at("worker[0]");
  record.spec["type"] = "large";
  record.price_per_hour = Money::of(0.2);
  Plan plan = bench.plan(workers(1));
  EXPECT_TRUE(plan.actions.empty()) << render_text(plan);
  EXPECT_EQ(*plan.totals.price_per_hour.total(), Money::of(0.2));
  // Also where something else of it changes in place.
  plan = bench.plan(workers(1, 10 * kGB));
  EXPECT_EQ(marks(plan), std::vector<std::string>{"~ worker[0]"});
  EXPECT_EQ(action(plan, "worker[0]").spec.at("type"), "large");
  EXPECT_EQ(action(plan, "worker[0]").summary, "local large, 2 cpu, 2 GiB, in lan");
  // Made anew, it is what is preferred now.
  bench.options.replace = {"worker[0]"};
  plan = bench.plan(workers(1));
  EXPECT_EQ(action(plan, "worker[0]").spec.at("type"), "small");
  // No longer to be had, it goes.
  bench.options.replace.clear();
  bench.cloud.offers.pop_back();
  plan = bench.plan(workers(1));
  EXPECT_EQ(action(plan, "worker[0]").why, "type cannot change in place");
}

TEST_F(PlanOfClouds, AKeyPairIsNoReasonToReplaceWhatWasMadeWithIt) {
  applied(workers(2));
  bench.observed.resources = {{"key.local", "gone", {}, ""}};
  bench.refreshed = true;
  EXPECT_EQ(marks(bench.plan(workers(2))), std::vector<std::string>{"+ key.local"});
  bench.refreshed = false;
  bench.options.replace = {"key.local"};
  EXPECT_EQ(marks(bench.plan(workers(2))), std::vector<std::string>{"-/+ key.local"});
  // By default, users of a missing resource are replaced with it.
  bench.options.replace.clear();
  bench.observed.resources = {{"network.lan", "gone", {}, ""}};
  bench.refreshed = true;
  EXPECT_EQ(marks(bench.plan(workers(1))),
            (std::vector<std::string>{"+ network.lan", "-/+ worker[0]", "- worker[1]"}));
}

TEST_F(PlanOfClouds, TagsOfRadlcThatWereChangedAreDriftAndWrittenAgain) {
  applied(workers(2));
  bench.observed.marks["key.local"] = {{"key.local", "radlc:token", "mine", "t-1", ""}};
  bench.observed.marks["worker[1]"] = {{"worker[1]", "radlc:address", nullptr, "worker[1]", ""}};
  bench.refreshed = true;
  const Plan plan = bench.plan(workers(2));
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"~ key.local", "~ worker[1]"}));
  const Action& tagged = action(plan, "worker[1]");
  ASSERT_EQ(tagged.changes.size(), 1u);
  EXPECT_EQ(tagged.changes[0].field, "marks.radlc:address");
  EXPECT_TRUE(tagged.changes[0].before.is_null());
  EXPECT_EQ(tagged.changes[0].after, "worker[1]");
  ASSERT_EQ(plan.drift.size(), 2u);
  EXPECT_EQ(plan.drift[0].address, "key.local");
  EXPECT_EQ(plan.drift[0].changes.at(0).before, "mine");
}

TEST_F(PlanOfClouds, ThePlanSaysWhichMachinesAreTrustedOnFirstUse) {
  bench.cloud.first_use = true;
  auto named = [&](const Plan& plan, const std::string& what) {
    return std::any_of(plan.notes.begin(), plan.notes.end(), [&](const std::string& note) {
      return note.find("first use") != note.npos && note.ends_with(what);
    });
  };
  EXPECT_TRUE(named(bench.plan(workers(2)), "worker[0..1]"));
  applied(workers(2));
  EXPECT_TRUE(bench.plan(workers(2)).notes.empty());
  bench.snapshot.resources.at("worker[1]").attributes["host_key_from"] = "first use";
  EXPECT_TRUE(named(bench.plan(workers(2)), " worker[1]"));
  // A refresh that has just seen the same key in its cloud ends it.
  bench.observed.attributes["worker[1]"] = {{"host_key_from", "cloud"}};
  bench.refreshed = true;
  EXPECT_TRUE(bench.plan(workers(2)).notes.empty());
}

TEST_F(PlanOfClouds, ThePlanWarnsWhereSshIsOpenedToEverybody) {
  auto warned = [&] {
    const Plan plan = bench.plan(workers(1));
    return std::any_of(plan.notes.begin(), plan.notes.end(),
                       [](const std::string& note) { return note.find("RADL_CALLER_CIDR") != note.npos; });
  };
  bench.options.caller = "0.0.0.0/0";
  EXPECT_FALSE(warned()) << "this cloud opens SSH to nobody";
  bench.cloud.group_rules = {"tcp 22 from this computer"};
  for (const char* wide : {"0.0.0.0/0", "0.0.0.0/1", "203.0.0.0/15", "::/0", "2001:db8::/31"}) {
    bench.options.caller = wide;
    EXPECT_TRUE(warned()) << wide;
  }
  for (const char* narrow : {"203.0.113.5/32", "203.0.0.0/16", "2001:db8::/32", "2001:db8::7", ""}) {
    bench.options.caller = narrow;
    EXPECT_FALSE(warned()) << narrow;
  }
}

TEST_F(PlanOfClouds, AmountsOfSeveralCurrenciesStandSideBySide) {
  FakeCloud other("other");
  other.offers = {{"m", "", Money::of(0.2, "EUR")}};
  bench.cloud.offers = {{"s", "", Money::of(0.1, "USD")}};
  bench.clouds.add(other);
  ir::Program program = workers(2);
  program.nodes[1].cloud = "other";
  const Plan plan = bench.plan(program);
  EXPECT_EQ(plan.totals.price_per_hour.micros(),
            (std::map<std::string, int64_t>{{"EUR", 200000}, {"USD", 100000}}));
  EXPECT_EQ(plan.totals.price_per_hour.total().status().code(), Code::Invalid);
  EXPECT_NE(summary_line(plan).find("; 0.20 EUR/h and 0.10 USD/h; "), std::string::npos)
      << summary_line(plan);
  EXPECT_EQ(plan_from_json(to_json(plan))->totals.price_per_hour, plan.totals.price_per_hour);
}

TEST_F(PlanOfClouds, WhatCostsBesidesMachinesIsInTheSum) {
  bench.cloud.offers = {{"s", "", Money::of(0.1)}};
  bench.cloud.volume_price = Money::of(0.01);
  applied(workers(2));
  const Plan plan = bench.plan(workers(1));
  EXPECT_EQ(*plan.totals.price_per_hour_before.total(), Money::of(0.22));
  EXPECT_EQ(*plan.totals.price_per_hour.total(), Money::of(0.11));
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"- worker[1]", "- volume.worker[1]"}));
  const Plan all = *make_destroy_plan(bench.snapshot, {});
  EXPECT_EQ(*all.totals.price_per_hour_before.total(), Money::of(0.22));
  EXPECT_TRUE(all.totals.price_per_hour.zero());
}

TEST_F(PlanOfClouds, PricesOlderThanHalfAYearAreNotedOnce) {
  bench.cloud.offers = {{"s", "", Money::of(0.1)}};  // of 2025-01-15
  for (const auto& [today, said] :
       {std::pair<const char*, bool>{"2025-07-14", false}, {"2025-07-15", true}, {"", false}}) {
    bench.options.today = today;
    const Plan plan = bench.plan(workers(3));
    const auto notes = std::count_if(plan.notes.begin(), plan.notes.end(), [](const std::string& note) {
      return note.starts_with("prices date from 2025-01-15, 181 days ago");
    });
    EXPECT_EQ(notes, said ? 1 : 0) << today;
  }
  bench.options.today = "2026-01-01";
  bench.surveys = {{"local", {1795314849, Json::object()}}};
  for (const std::string& note : bench.plan(workers(1)).notes)
    EXPECT_FALSE(note.starts_with("prices are")) << note;
}

TEST_F(PlanOfClouds, OldPricesOfTheOtherMarketAreNotedOnTheirOwn) {
  bench.cloud.offers = {{"s", "", Money::of(0.1)}};
  bench.cloud.offers[0].facts.market = "on-demand";
  bench.cloud.offers[0].facts.beside_as_of = "2024-12-31";
  bench.options.today = "2025-07-14";
  const Plan plan = bench.plan(workers(3));
  std::vector<std::string> ages;
  for (const std::string& note : plan.notes)
    if (note.starts_with("prices")) ages.push_back(note);
  ASSERT_EQ(ages.size(), 1u);
  EXPECT_TRUE(
      ages[0].starts_with("prices of the other market (spot, on-demand) date from 2024-12-31, 195 days ago"))
      << ages[0];
  const Result<Plan> read = plan_from_json(to_json(plan));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->costs[0].candidates[0].facts.beside_as_of, "2024-12-31");
}

TEST_F(PlanOfClouds, PricesAreAsSurveyedOrOfTheCatalog) {
  bench.cloud.offers = {{"s", "", Money::of(0.1)}};
  Plan plan = bench.plan(workers(1));
  EXPECT_EQ(price_dates(plan), "Prices are of the catalog of 2025-01-15.");
  EXPECT_TRUE(bench.cloud.surveyed.back().empty()) << "nothing was surveyed";
  bench.surveys = {{"local", {1795314849, {{"zones", {"a"}}}}}, {"unused", {1, Json::object()}}};
  plan = bench.plan(workers(1));
  EXPECT_EQ(bench.cloud.surveyed.back(), Json({{"zones", {"a"}}}));
  EXPECT_EQ(price_dates(plan), "Prices are as surveyed at 2026-11-22T02:34:09Z.");
  const Result<Plan> read = plan_from_json(to_json(plan));
  ASSERT_TRUE(read.ok()) << read.status().text();
  ASSERT_EQ(read->surveys.size(), 1u);
  EXPECT_EQ(read->surveys.at("local").facts, Json({{"zones", {"a"}}}));
  EXPECT_EQ(read->surveys.at("local").taken_at, 1795314849);
}

TEST_F(PlanOfClouds, ValuesDecideWhatChangesInPlace) {
  applied(workers(1, 20 * kGB));
  Plan plan = bench.plan(workers(1, 30 * kGB));
  EXPECT_EQ(marks(plan), std::vector<std::string>{"~ worker[0]"});
  plan = bench.plan(workers(1, 10 * kGB));
  EXPECT_EQ(marks(plan), std::vector<std::string>{"-/+ worker[0]"});
  EXPECT_EQ(action(plan, "worker[0]").why, "disk cannot change in place: a disk does not shrink");
}

TEST_F(PlanOfClouds, OnlyTheFieldThatForcesAReplacementIsMarked) {
  applied(workers(1, 20 * kGB));
  ir::Program program = workers(1, 10 * kGB);
  program.nodes[0].interfaces[0].host_name = "other";
  const Plan plan = bench.plan(program);
  const std::vector<FieldChange>& changes = action(plan, "worker[0]").changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].field, "disk");
  EXPECT_TRUE(changes[0].forces_replacement);
  EXPECT_EQ(changes[1].field, "host_name");
  EXPECT_FALSE(changes[1].forces_replacement);
  EXPECT_FALSE(changes[1].forces_restart) << "it is made anew anyway";
}

TEST_F(PlanOfClouds, ARestartIsAnUpdateThatSaysSo) {
  auto named = [](const std::string& name) {
    ir::Program program = ProgramBuilder().deploy({"worker"}).file("worker", "tools", "/a", "1").build();
    program.nodes[0].interfaces[0].host_name = name;
    return program;
  };
  applied(named("a"));
  const Plan plan = bench.plan(named("b"));
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"~ worker[0]", "> worker[0]/tools"}));
  const Action& update = action(plan, "worker[0]");
  EXPECT_EQ(update.why, "host_name changed, it is restarted: a name is read when a machine starts");
  EXPECT_TRUE(update.changes.at(0).forces_restart);
  EXPECT_EQ(update.seconds, 2);
  EXPECT_NE(render_text(plan).find("host_name  'a' -> 'b'  (restarts it)"), std::string::npos)
      << render_text(plan);
  EXPECT_TRUE(plan_from_json(to_json(plan))->find("worker[0]")->changes.at(0).forces_restart);
}

TEST_F(PlanOfClouds, AStoppedMachineIsReplacedWhereItsCloudCannotStartIt) {
  applied(workers(1));
  bench.snapshot.resources.at("worker[0]").attributes["state"] = "stopped";
  EXPECT_EQ(marks(bench.plan(workers(1))), std::vector<std::string>{"~ worker[0]"});
  bench.cloud.starts_again = false;
  const Plan plan = bench.plan(workers(1));
  EXPECT_EQ(marks(plan), std::vector<std::string>{"-/+ worker[0]"});
  EXPECT_EQ(action(plan, "worker[0]").why, "it is stopped, and local cannot start it again");
  EXPECT_FALSE(action(plan, "worker[0]").spec.contains("state"));
}

// A rule that someone opened manually.
TEST_F(PlanOfClouds, WhatWasChangedByHandIsChangedBackAndToldApart) {
  ir::Program program = workers(1);
  program.networks[0].ports = {{"tcp", "0.0.0.0/0", 22, 22, 22, 22}};
  applied(program);
  Json opened = bench.snapshot.resources.at("network.lan").spec;
  opened["ports"].push_back({{"protocol", "tcp"}, {"remote", 1}});
  bench.observed.specs["network.lan"] = {{"ports", opened["ports"]}};
  bench.refreshed = true;
  Plan plan = bench.plan(program);
  EXPECT_EQ(marks(plan), std::vector<std::string>{"~ network.lan"});
  EXPECT_EQ(action(plan, "network.lan").why, "ports changed outside of radlc");
  EXPECT_EQ(action(plan, "network.lan").spec, bench.snapshot.resources.at("network.lan").spec);
  ASSERT_EQ(plan.drift.size(), 1u);
  EXPECT_EQ(plan.drift[0].address, "network.lan");
  EXPECT_EQ(plan.drift[0].what, "changed");
  EXPECT_EQ(plan.drift[0].changes.at(0).before, opened["ports"]) << "as it is now";

  // A change requested by the file is not drift.
  program.networks[0].features["note"] = "x";
  plan = bench.plan(program);
  EXPECT_EQ(action(plan, "network.lan").why, "features.note changed, ports changed outside of radlc");
  ASSERT_EQ(plan.drift.size(), 1u);
  ASSERT_EQ(plan.drift[0].changes.size(), 1u);

  // As it was applied: nothing to do.
  bench.observed.specs["network.lan"] = {
      {"ports", bench.snapshot.resources.at("network.lan").spec.at("ports")}};
  program.networks[0].features->erase("note");
  EXPECT_FALSE(bench.plan(program).changes_anything());
}

TEST_F(PlanOfClouds, WhatAMachineNeedsNowIsRecordedInPlace) {
  applied(workers(1));
  bench.cloud.volume_price = Money::of(0.01);
  const Plan plan = bench.plan(workers(1));
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"+ volume.worker[0]", "~ worker[0]"}));
  EXPECT_EQ(action(plan, "worker[0]").why, "a dependency changed");
  bench.done(workers(1), plan);
  EXPECT_FALSE(bench.plan(workers(1)).changes_anything());
}

TEST_F(PlanOfClouds, RemovalsGoByWhatNeedsWhatAlone) {
  auto record = [&](const std::string& address, std::vector<std::string> needs,
                    const std::string& system = "") {
    ResourceRecord made;
    made.address = address;
    made.type = "thing";
    made.cloud = "local";
    made.needs = std::move(needs);
    made.system = system;
    bench.snapshot.resources[address] = made;
  };
  record("attachment.x", {"volume.x", "a[0]"});
  record("volume.x", {});
  record("a[0]", {"subnet.x"}, "a");
  record("b[0]", {}, "b");
  record("subnet.x", {"network.x"});
  record("network.x", {});
  const Plan plan = make_destroy_plan(bench.snapshot);
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"- b[0]", "- attachment.x", "- a[0]", "- subnet.x",
                                                   "- network.x", "- volume.x"}));
  EXPECT_EQ(action(plan, "a[0]").removed_after, std::vector<std::string>{"attachment.x"});
}

// Both are created: the machine after its volume, and the old volume does not wait for a missing machine.
TEST_F(PlanOfClouds, AMachineThatIsGoneKeepsNothingFromBeingReplaced) {
  bench.cloud.volume_price = Money::of(0.01);
  applied(workers(1));
  bench.snapshot.resources.at("volume.worker[0]").status = ResourceStatus::Deleting;
  bench.observed.resources = {{"worker[0]", "gone", {}, ""}};
  bench.refreshed = true;
  EXPECT_EQ(marks(bench.plan(workers(1))), (std::vector<std::string>{"-/+ volume.worker[0]", "+ worker[0]"}));
}

TEST_F(PlanOfClouds, ADesignThatDoesNotHoldTogetherIsNotPlanned) {
  struct Forgetful : FakeCloud {
    void add_node(const DesignInput&, const ir::Node&, Design&) const override {}
  } forgetful;
  bench.clouds.by_id["local"] = &forgetful;
  const Result<Plan> plan = bench.try_plan(workers(1));
  EXPECT_EQ(plan.status().code(), Code::Internal);
  EXPECT_NE(plan.status().message().find("worker[0]"), std::string::npos) << plan.status().text();
}

TEST_F(PlanOfClouds, AnErrorOfManyMachinesOfASystemIsReportedOnce) {
  struct Picky : FakeCloud {
    Status can_make(const ir::Node& node, const DesignInput&) const override {
      if (node.address == "worker[3]") return {};
      return invalid(node.address + (node.address == "worker[5]" ? ": too large" : ": no such type"));
    }
  } picky;
  bench.clouds.by_id["local"] = &picky;
  ir::Program program = ProgramBuilder().deploy({"front", 1}).deploy({"worker", 6}).build();
  EXPECT_EQ(bench.try_plan(program).status().message(),
            "front[0]: no such type\nworker[0..2,4]: no such type\nworker[5]: too large");
}

TEST_F(PlanOfClouds, NotesOfACloudAreToldOnce) {
  bench.cloud.notes = {"no use for x", "no use for x"};
  EXPECT_EQ(bench.plan(workers(2)).notes, std::vector<std::string>{"no use for x"});
}

}  // namespace
}  // namespace radl::test
