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
};

template <class Value>
Played play(Search& search, int reports, const Value& value, std::vector<Event>* journal = nullptr) {
  Played played;
  auto see = [&](const Event& event) {
    search.observe(event);
    if (journal) journal->push_back(event);
  };
  std::map<std::string, Json> given;
  while (auto next = search.next()) {
    const std::string name = "trial-" + std::to_string(search.suggested());
    given[name] = *next;
    played.all.push_back(*next);
    see(add_event({name, {}, 0, {{"parameters", *next}}}, 0));
    see(start_event(name, 1, "n", 0));
    for (int i = 1; i <= reports && !search.should_stop(name); ++i, ++played.reports)
      see(metric_event(name, 1, i, {{"loss", value(*next, i)}}, 0));
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

TEST(FarmSearch, SeeingTheJournalAgainDecidesTheSame) {
  for (const char* strategy : {"asha", "tpe"}) {
    const Json json = {{"strategy", strategy}, {"trials", 30}, {"seed", 9}, {"space", kLine}};
    std::vector<Event> journal;
    Search search(settings(json));
    (void)play(search, 9, curve, &journal);
    // Cut off at any step, the next suggestion is that of the whole run.
    for (size_t cut = 0; cut < journal.size(); ++cut) {
      if (journal[cut]["event"] != "add") continue;
      Search again(settings(json));
      for (size_t i = 0; i < cut; ++i) again.observe(journal[i]);
      ASSERT_EQ(again.next(), std::optional<Json>(journal[cut]["spec"]["parameters"]))
          << strategy << " " << cut;
    }
  }
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
        Json{{"x", {{"values", {1}}, {"when", {{"y", 1}}}}}}})
    EXPECT_EQ(parse_search({{"space", space}}).status().code(), Code::Invalid) << space;
  EXPECT_EQ(parse_search({{"space", kLine}, {"strategy", "guess"}}).status().code(), Code::Invalid);
  EXPECT_EQ(parse_search({{"space", kLine}, {"goal", "best"}}).status().code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::farm
