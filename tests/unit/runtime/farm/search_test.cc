#include "runtime/farm/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace radl::farm {
namespace {

SearchSettings settings(Json json) {
  auto made = parse_search(json);
  EXPECT_TRUE(made.ok()) << made.status().text();
  return made.ok() ? *made : SearchSettings();
}

// Runs trials one after the other: each reports `value(parameters, report)` up to `reports` times.
struct Played {
  int reports = 0;  // of all trials
  std::string best;
  Json parameters;
  std::vector<Json> all;
  std::vector<std::string> parents;
};

Task trial(const std::string& name, const Suggestion& suggestion) {
  Task task{name, {}, 0, {{"parameters", suggestion.parameters}}};
  if (!suggestion.parent.empty()) task.spec.set("from", suggestion.parent);
  return task;
}

template <class Value>
Played play(Search& search, int reports, const Value& value, std::vector<Event>* journal = nullptr) {
  Played played;
  Table table;
  auto see = [&](const Event& event) {
    EXPECT_TRUE(table.apply(event).ok()) << event;
    search.observe(event);
    if (journal) journal->push_back(event);
  };
  std::map<std::string, Json> given;
  while (search.has_next(table)) {
    const auto next = search.next(table);
    EXPECT_TRUE(next.ok()) << next.status().text();
    if (!next.ok()) break;
    const std::string name = search.next_name();
    given[name] = next->parameters;
    played.all.push_back(next->parameters);
    played.parents.push_back(next->parent);
    see(add_event(trial(name, *next), 0));
    see(start_event(name, 1, "n", 0));
    for (int i = 1; i <= reports && !search.should_stop(name); ++i, ++played.reports)
      see(metric_event(name, 1, i, {{"loss", value(next->parameters, i)}}, 0));
    see(end_event(name, 1, End::Succeeded, 0, "", 0));
    see(commit_event(name, 1, 0));
  }
  played.best = search.best();
  played.parameters = given[played.best];
  return played;
}

const Json kLine = {{"x", {{"min", 0}, {"max", 1}}}};

double bowl(const Json& p, int) { return std::pow(p["x"].get<double>() - 0.3, 2); }

TEST(FarmSearch, AGridHasEachCombinationOnce) {
  Search search(
      settings({{"strategy", "grid"},
                {"trials", 100},
                {"space", {{"rate", {{"min", 0.001}, {"max", 0.1}, {"log", true}}}, {"batch", {32, 64}}}}}));
  const Played played = play(search, 1, [](const Json&, int) { return 1.0; });
  std::set<Json> different(played.all.begin(), played.all.end());
  EXPECT_EQ(played.all.size(), 6u);
  EXPECT_EQ(different.size(), 6u);
  EXPECT_NEAR(played.all[1]["rate"].get<double>() * played.all[1]["rate"].get<double>(), 0.0001, 1e-6);
}

TEST(FarmSearch, AConditionalParameterExistsOnlyWhereItsConditionHolds) {
  const Json space = {{"kind", {"sgd", "adam"}},
                      {"a_momentum", {{"min", 0}, {"max", 1}, {"when", {{"kind", {"sgd"}}}}}}};
  Search search(settings({{"strategy", "random"}, {"trials", 40}, {"space", space}}));
  const Played played = play(search, 1, [](const Json&, int) { return 1.0; });
  int with = 0;
  for (const Json& each : played.all) {
    EXPECT_EQ(each.contains("a_momentum"), each["kind"] == "sgd");
    with += each.contains("a_momentum");
  }
  EXPECT_GT(with, 5);
  EXPECT_LT(with, 35);
}

TEST(FarmSearch, EachDecadeOfALogarithmicRangeIsDrawnEquallyOften) {
  const Json space = {{"rate", {{"min", 1e-5}, {"max", 1e-1}, {"log", true}}},
                      {"width", {{"min", 1}, {"max", 10000}, {"log", true}, {"integer", true}}}};
  for (const char* strategy : {"random", "sobol"}) {
    Search search(settings({{"strategy", strategy}, {"trials", 400}, {"space", space}}));
    std::map<int, int> rates, widths;
    for (const Json& each : play(search, 1, [](const Json&, int) { return 1.0; }).all) {
      ++rates[static_cast<int>(std::floor(std::log10(each["rate"].get<double>())))];
      EXPECT_TRUE(each["width"].is_number_integer()) << each;
      ++widths[std::min(3, static_cast<int>(std::floor(std::log10(each["width"].get<double>()))))];
    }
    EXPECT_EQ(rates.size(), 4u) << strategy;
    EXPECT_EQ(widths.size(), 4u) << strategy;
    for (const auto& counts : {rates, widths})
      for (const auto& [decade, count] : counts) EXPECT_NEAR(count, 100, 35) << strategy << " " << decade;
  }
}

TEST(FarmSearch, SobolFillsTheSpaceEvenly) {
  for (size_t dimension = 0; dimension < 8; ++dimension) {
    std::vector<int> cells(16);
    for (size_t i = 0; i < 256; ++i) ++cells[static_cast<size_t>(sobol_point(i, 8, 3)[dimension] * 16)];
    // A random shift moves points over the cells' borders, by one at most.
    for (int count : cells) EXPECT_NEAR(count, 16, 1) << dimension;
  }
}

TEST(FarmSearch, TheSeedDecides) {
  for (const char* strategy : {"random", "sobol", "tpe"}) {
    auto run = [&](int seed) {
      Search search(settings({{"strategy", strategy}, {"trials", 20}, {"seed", seed}, {"space", kLine}}));
      return play(search, 1, bowl).all;
    };
    EXPECT_EQ(run(1), run(1)) << strategy;
    EXPECT_NE(run(1), run(2)) << strategy;
  }
}

TEST(FarmSearch, TpeComesCloserThanRandomSearch) {
  const Json space = {
      {"x", {{"min", 0}, {"max", 1}}}, {"y", {{"min", 0}, {"max", 1}}}, {"z", {{"min", 0}, {"max", 1}}}};
  auto far = [](const Json& p, int) {
    double sum = 0;
    for (const auto& [name, value] : p.items()) sum += std::pow(value.get<double>() - 0.7, 2);
    return sum;
  };
  auto mean = [&](const char* strategy) {
    double sum = 0;
    for (int seed = 0; seed < 20; ++seed) {
      Search search(settings({{"strategy", strategy}, {"trials", 60}, {"seed", seed}, {"space", space}}));
      (void)play(search, 1, far);
      sum += *search.value(search.best());
    }
    return sum / 20;
  };
  EXPECT_LT(mean("tpe"), 0.6 * mean("random"));
}

// Learning curves that cross early: the better the parameter, the lower the end.
double curve(const Json& p, int report) {
  const double x = p["x"];
  return std::abs(x - 0.3) + 1.0 / report;
}

TEST(FarmSearch, AshaFindsTheBestWithAQuarterOfTheReports) {
  int reports = 0;
  constexpr int kSeeds = 12;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Json json = {{"trials", 64}, {"seed", seed}, {"space", kLine}};
    Search whole(settings(json));
    json["strategy"] = "asha";
    Search early(settings(json));
    const Played all = play(whole, 27, curve), few = play(early, 27, curve);
    EXPECT_EQ(all.reports, 64 * 27);
    reports += few.reports;
    EXPECT_NEAR(*early.value(few.best), *whole.value(all.best), 0.005) << seed;
  }
  EXPECT_LE(reports, kSeeds * 64 * 27 / 4);
}

// An external searcher whose answer depends on all that it may know.
Result<Json> external(const Json& request) {
  double x = 0.5;
  for (const Json& each : request["trials"]) x = std::fmod(x + each.value("value", 0.1), 1.0);
  return Json{{"parameters", {{"x", x}}}};
}

TEST(FarmSearch, SeeingTheJournalAgainDecidesTheSame) {
  for (const char* strategy : {"asha", "tpe", "pbt", "optuna"}) {
    const Json json = {
        {"strategy", strategy}, {"trials", 30}, {"seed", 9}, {"population", 5}, {"space", kLine}};
    std::vector<Event> journal;
    Search search(settings(json), external);
    (void)play(search, 9, curve, &journal);
    // Cut off at any step, the next suggestion is that of the whole run.
    for (size_t cut = 0; cut < journal.size(); ++cut) {
      if (journal[cut]["event"] != "add") continue;
      Search again(settings(json), external);
      Table table;
      for (size_t i = 0; i < cut; ++i) {
        ASSERT_TRUE(table.apply(journal[i]).ok());
        again.observe(journal[i]);
      }
      ASSERT_TRUE(again.has_next(table)) << strategy << " " << cut;
      const auto next = again.next(table);
      ASSERT_TRUE(next.ok()) << next.status().text();
      ASSERT_EQ(trial("t", *next).spec.json(), journal[cut]["spec"]) << strategy << " " << cut;
    }
  }
}

// Like trials that end with their generation: weak members continue from better ones.
TEST(FarmSearch, APopulationExploitsAndExplores) {
  std::vector<Event> journal;
  Search search(
      settings({{"strategy", "pbt"}, {"trials", 40}, {"population", 8}, {"seed", 4}, {"space", kLine}}));
  const Played played = play(search, 1, bowl, &journal);
  ASSERT_EQ(played.all.size(), 40u);
  auto cost = [&](size_t number) { return bowl(played.all[number], 1); };
  int exploited = 0;
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(played.parents[i], "");
  for (size_t i = 8; i < 40; ++i) {
    const size_t first = i / 8 * 8 - 8, self = i - 8;
    const size_t parent = std::stoul(played.parents[i].substr(6));
    ASSERT_GE(parent, first);
    ASSERT_LT(parent, first + 8);
    if (parent == self) {
      EXPECT_EQ(played.all[i], played.all[self]);
      continue;
    }
    ++exploited;
    int better = 0;
    for (size_t other = first; other < first + 8; ++other) better += cost(other) < cost(parent);
    EXPECT_LT(better, 2) << "not of the best quarter";
    EXPECT_NE(played.all[i], played.all[parent]);
    EXPECT_GE(played.all[i]["x"].get<double>(), 0);
    EXPECT_LE(played.all[i]["x"].get<double>(), 1);
  }
  EXPECT_EQ(exploited, 8);  // two of each generation
  double worst_first = 0, worst_last = 0;
  for (size_t i = 0; i < 8; ++i) worst_first = std::max(worst_first, cost(i));
  for (size_t i = 32; i < 40; ++i) worst_last = std::max(worst_last, cost(i));
  EXPECT_LT(worst_last, worst_first);
}

TEST(FarmSearch, AGenerationWaitsForTheOneBeforeAndPassesOverItsFailures) {
  Search search(settings({{"strategy", "pbt"}, {"trials", 6}, {"population", 2}, {"space", kLine}}));
  Table table;
  auto see = [&](const Event& event) {
    ASSERT_TRUE(table.apply(event).ok()) << event;
    search.observe(event);
  };
  for (const char* name : {"trial-0", "trial-1"}) {
    ASSERT_TRUE(search.has_next(table));
    see(add_event(trial(name, *search.next(table)), 0));
    see(start_event(name, 1, "n", 0));
  }
  EXPECT_FALSE(search.has_next(table));
  see(metric_event("trial-0", 1, 1, {{"loss", 9}}, 0));
  see(end_event("trial-0", 1, End::Succeeded, 0, "", 0));
  see(commit_event("trial-0", 1, 0));
  EXPECT_FALSE(search.has_next(table));
  see(cancel_event("trial-1", 0));
  see(end_event("trial-1", 1, End::Cancelled, 143, "", 0));
  ASSERT_TRUE(search.has_next(table));
  EXPECT_EQ(search.next(table)->parent, "trial-0");
  see(add_event(trial("trial-2", *search.next(table)), 0));
  EXPECT_EQ(search.next(table)->parent, "trial-0");
}

TEST(FarmSearch, AStepLimitsTheValues) {
  const Json space = {{"batch", {{"min", 32}, {"max", 128}, {"step", 32}, {"integer", true}}},
                      {"rate", {{"min", 0.1}, {"max", 0.5}, {"step", 0.2}}}};
  Search grid(settings({{"strategy", "grid"}, {"trials", 100}, {"space", space}}));
  std::set<Json> batches;
  const Played all = play(grid, 1, [](const Json&, int) { return 1.0; });
  EXPECT_EQ(all.all.size(), 12u);
  for (const Json& each : all.all) batches.insert(each["batch"]);
  EXPECT_EQ(batches, (std::set<Json>{32, 64, 96, 128}));
  Search random(settings({{"trials", 50}, {"space", space}}));
  for (const Json& each : play(random, 1, [](const Json&, int) { return 1.0; }).all) {
    EXPECT_TRUE(batches.contains(each["batch"])) << each;
    EXPECT_NEAR(std::remainder(each["rate"].get<double>() - 0.1, 0.2), 0, 1e-9);
  }
}

std::string table_of(std::vector<std::pair<double, double>> trials) {
  Json table = Json::array();
  for (const auto& [x, loss] : trials)
    table.push_back({{"task", "trial-" + std::to_string(table.size())},
                     {"state", "finished"},
                     {"spec", {{"parameters", {{"x", x}}}}},
                     {"metrics", {{"loss", loss}}}});
  return table.dump();
}

TEST(FarmSearch, StartsFromEarlierSearches) {
  const Json from = {table_of({{0.9, 5}, {0.25, 0.5}}), table_of({{7, 0.1}, {0.31, 0.2}})};
  for (const char* strategy : {"random", "sobol", "asha", "tpe"}) {
    Search search(settings({{"strategy", strategy}, {"trials", 3}, {"space", kLine}, {"from", from}}));
    // The best one lies outside of this space: its place is drawn.
    Search best(settings({{"strategy", strategy}, {"trials", 3}, {"space", kLine}, {"from", {from[0]}}}));
    EXPECT_EQ(best.next(Table())->parameters["x"], 0.25) << strategy;
    EXPECT_NE(search.next(Table())->parameters["x"], 7) << strategy;
  }
  Search population(settings(
      {{"strategy", "pbt"}, {"trials", 8}, {"population", 4}, {"space", kLine}, {"from", {from[0]}}}));
  const Played played = play(population, 1, bowl);
  EXPECT_EQ(played.all[0]["x"], 0.25);
  EXPECT_EQ(played.all[1]["x"], 0.9);
  for (const char* wrong : {"", "{}", "old-results/table.json"})
    EXPECT_EQ(parse_search({{"space", kLine}, {"from", {wrong}}}).status().code(), Code::Invalid) << wrong;
}

// The first trials of TPE are random: with what earlier searches know they are not.
TEST(FarmSearch, TpeLearnsFromEarlierSearches) {
  std::vector<std::pair<double, double>> before;
  for (int i = 0; i < 40; ++i) before.emplace_back(i / 40.0, std::pow(i / 40.0 - 0.3, 2));
  double warm = 0, cold = 0;
  for (int seed = 0; seed < 20; ++seed) {
    Json json = {{"strategy", "tpe"}, {"trials", 8}, {"seed", seed}, {"space", kLine}};
    Search first(settings(json));
    json["from"] = {table_of(before)};
    Search second(settings(json));
    for (const Json& each : play(first, 1, bowl).all) cold += bowl(each, 1);
    for (const Json& each : play(second, 1, bowl).all) warm += bowl(each, 1);
  }
  EXPECT_LT(warm, 0.2 * cold);
}

TEST(FarmSearch, AnExternalSearcherIsHeldToTheSpace) {
  const Json json = {{"strategy", "optuna"}, {"trials", 3}, {"space", kLine}};
  for (const Json& answer :
       {Json{{"parameters", {{"x", 2}}}}, Json{{"parameters", Json::object()}}, Json(7)}) {
    Search search(settings(json), [&](const Json&) -> Result<Json> { return answer; });
    EXPECT_EQ(search.next(Table()).status().code(), Code::Corrupt) << answer;
  }
  Search failed(settings(json), [](const Json&) -> Result<Json> { return Status(Code::Unsupported, "no"); });
  EXPECT_EQ(failed.next(Table()).status().code(), Code::Unsupported);
  EXPECT_FALSE(Search(settings(json)).next(Table()).ok());
}

TEST(FarmSearch, AnExternalSearcherGetsWhatLiesInTheSpaceAndWhichTrialsAreOver) {
  Json asked;
  SearchSettings given =
      settings({{"strategy", "optuna"},
                {"trials", 4},
                {"space", {{"x", {{"min", 0}, {"max", 10}, {"step", 2}}}, {"kind", {"a", "b"}}}}});
  given.earlier = {{{{"x", 4.9}, {"kind", "gone"}}, 0.5}, {{{"x", 11}, {"kind", "a"}}, 0.7}};
  Search search(given, [&](const Json& request) -> Result<Json> {
    asked = request;
    return Json{{"parameters", {{"x", 2}, {"kind", "a"}}}};
  });
  Table table;
  auto see = [&](const Event& event) {
    ASSERT_TRUE(table.apply(event).ok()) << event;
    search.observe(event);
  };
  for (const char* name : {"trial-0", "trial-1"})
    see(add_event({name, {}, 0, {{"parameters", {{"x", 3}}}}}, 0));
  see(cancel_event("trial-0", 0));
  ASSERT_TRUE(search.next(table).ok());
  const Json& trials = asked["trials"];
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[0]["parameters"], (Json{{"x", 4.0}}));
  EXPECT_EQ(trials[1]["parameters"], (Json{{"kind", "a"}}));
  EXPECT_EQ(trials[2]["over"], true) << "cancelled";
  EXPECT_EQ(trials[2]["parameters"], (Json{{"x", 4.0}}));
  EXPECT_EQ(trials[3]["over"], false);
}

TEST(FarmSearch, APopulationPassesOverAValueOfAnotherSpace) {
  Search search(settings({{"strategy", "pbt"}, {"trials", 40}, {"population", 2}, {"space", kLine}}));
  Table table;
  auto see = [&](const Event& event) {
    ASSERT_TRUE(table.apply(event).ok()) << event;
    search.observe(event);
  };
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(search.has_next(table));
    const auto next = search.next(table);
    ASSERT_TRUE(next.ok());
    const std::string name = search.next_name();
    see(add_event({name, {}, 0, {{"parameters", {{"x", "text"}}}}}, 0));
    see(start_event(name, 1, "n", 0));
    see(metric_event(name, 1, 1, {{"loss", i}}, 0));
    see(end_event(name, 1, End::Succeeded, 0, "", 0));
    see(commit_event(name, 1, 0));
  }
}

TEST(FarmSearch, MoreTrialsCanBeAdded) {
  Search search(settings({{"trials", 2}, {"space", kLine}}));
  EXPECT_EQ(play(search, 1, bowl).all.size(), 2u);
  Table table;
  ASSERT_TRUE(table.apply(farm_event({{"trials", 2}}, 0)).ok());
  ASSERT_TRUE(table.apply(trials_event(3, 0)).ok());
  EXPECT_EQ(table.settings()["trials"], 5);
  search.observe(trials_event(3, 0));
  EXPECT_TRUE(search.has_next(table));
  EXPECT_EQ(search.settings().trials, 5u);
  Table tasks;
  ASSERT_TRUE(tasks.apply(farm_event({{"tries", 3}}, 0)).ok());
  EXPECT_EQ(tasks.apply(trials_event(1, 0)).code(), Code::Invalid);
}

TEST(FarmSearch, WhatIsLeftOfIt) {
  Search search(settings({{"strategy", "grid"}, {"trials", 16}, {"space", {{"x", {1, 2, 3}}}}}));
  EXPECT_EQ(search.left().count, 3u) << "a grid has no more values";
  play(search, 1, [](const Json&, int) { return 0.0; });
  EXPECT_EQ(search.left().count, 0u);
  Search more(settings({{"strategy", "pbt"}, {"trials", 6}, {"population", 2}, {"space", kLine}}));
  play(more, 1, bowl);
  more.observe(trials_event(4, 0));
  EXPECT_EQ(more.left().count, 4u);
  EXPECT_EQ(more.left().first, 6u);
  EXPECT_EQ(more.left().population, 2u);
}

TEST(FarmSearch, AValueOfALostAttemptDoesNotCount) {
  Search search(settings({{"trials", 2}, {"space", kLine}}));
  search.observe(add_event({"t", {}, 0, {{"parameters", {{"x", 0.5}}}}}, 0));
  search.observe(start_event("t", 1, "n", 0));
  search.observe(metric_event("t", 1, 1, {{"loss", 0.1}}, 0));
  search.observe(end_event("t", 1, End::Lost, -1, "", 0));
  search.observe(start_event("t", 2, "n", 0));
  search.observe(commit_event("t", 2, 0));
  EXPECT_FALSE(search.value("t"));
  EXPECT_EQ(search.best(), "");
}

TEST(FarmSearch, WrongSpacesAreRefused) {
  for (const Json& space :
       {Json::object(), Json{{"x", 3}}, Json{{"x", Json::array()}}, Json{{"x", {{"min", 1}}}},
        Json{{"x", {{"min", 2}, {"max", 1}}}}, Json{{"x", {{"min", 0}, {"max", 1}, {"log", true}}}},
        Json{{"x", {{"min", 0}, {"max", 1}, {"typo", true}}}},
        Json{{"x", {{"min", 0.2}, {"max", 0.8}, {"integer", true}}}},
        Json{{"x", {{"min", 0}, {"max", 1}, {"steps", 1000000000}}}},
        Json{{"x", {{"min", 0}, {"max", 1}, {"step", 2}}}},
        Json{{"x", {{"min", 0}, {"max", 1}, {"step", 0}}}},
        Json{{"x", {{"min", 0}, {"max", 1}, {"step", 1e-9}}}},
        Json{{"x", {{"min", 1}, {"max", 9}, {"step", 2}, {"log", true}}}},
        Json{{"x", {{"min", 1}, {"max", 9}, {"step", 0.5}, {"integer", true}}}},
        Json{{"x", {{"values", {1}}, {"when", {{"y", 1}}}}}}})
    EXPECT_EQ(parse_search({{"space", space}}).status().code(), Code::Invalid) << space;
  EXPECT_EQ(parse_search({{"space", kLine}, {"strategy", "guess"}}).status().code(), Code::Invalid);
  EXPECT_EQ(parse_search({{"space", kLine}, {"goal", "best"}}).status().code(), Code::Invalid);
  EXPECT_EQ(parse_search({{"space", kLine}, {"trails", 4}}).status().code(), Code::Invalid);
  EXPECT_EQ(parse_search({{"space", kLine}, {"population", 1}}).status().code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::farm
