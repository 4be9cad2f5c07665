#include "runtime/farm/plot.h"

#include <gtest/gtest.h>

namespace radl::farm {
namespace {

Json plot(const std::vector<Event>& events) {
  Table table;
  Curves curves;
  for (const Event& event : events) {
    EXPECT_TRUE(table.apply(event).ok()) << event;
    curves.observe(event);
  }
  auto made = plot_of("hpo", table, curves);
  EXPECT_TRUE(made.ok());
  return made.ok() ? *made : Json();
}

const Event kSearch = farm_event({{"metric", "loss"}, {"goal", "min"}, {"trials", 2}}, 0);

Event trial_added(const std::string& name, const Json& parameters) {
  return add_event({name, {}, 0, {{"parameters", parameters}}}, 0);
}

TEST(FarmPlot, ACurveIsThatOfTheNewestAttempt) {
  const Json made =
      plot({kSearch, trial_added("a", {{"x", 1}}), start_event("a", 1, "n", 0),
            metric_event("a", 1, 1, {{"loss", 9}}, 0), end_event("a", 1, End::Lost, -1, "", 0),
            start_event("a", 2, "n", 0), metric_event("a", 2, 1, {{"loss", 5}}, 0),
            metric_event("a", 2, 2, {{"rate", 1}}, 0), metric_event("a", 2, 3, {{"loss", 4}}, 0)});
  EXPECT_EQ(made["trials"][0]["curve"], Json::parse("[[1, 5], [3, 4]]"));
  EXPECT_EQ(made["trials"][0]["value"], 4);
}

TEST(FarmPlot, AFarmWithoutASearchHasNone) {
  Table table;
  ASSERT_TRUE(table.apply(farm_event({{"tries", 3}}, 0)).ok());
  EXPECT_EQ(plot_of("x", table, Curves()).status().code(), Code::Invalid);
}

TEST(FarmPlot, AnotherMetricMakesTrialsOfAllTasks) {
  Table table;
  Curves curves("rate");
  for (const Event& event :
       {farm_event({{"tries", 3}}, 0), add_event({"a", {}, 0, Json::object()}, 0),
        start_event("a", 1, "n", 0), metric_event("a", 1, 1, {{"loss", 9}, {"rate", 0.5}}, 0)}) {
    ASSERT_TRUE(table.apply(event).ok()) << event;
    curves.observe(event);
  }
  auto made = plot_of("x", table, curves, "rate");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)["trials"], Json::parse(R"([{"task": "a", "state": "running", "parameters": {},
      "value": 0.5, "curve": [[1, 0.5]]}])"));
}

TEST(FarmPlot, ThePageEscapesWhatOthersWrote) {
  const std::string wrong = "<script>alert(1)</script>";
  const std::string page = plot_page(plot(
      {kSearch, trial_added("a", {{wrong, wrong}, {"y", 1}}), trial_added("b", {{wrong, 3}, {"y", 1000}}),
       start_event("a", 1, "n", 0), metric_event("a", 1, 1, {{"loss", 2}}, 0)}));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script"), std::string::npos);
}

TEST(FarmPlot, ASearchWithoutReportsHasAPage) {
  EXPECT_NE(plot_page(plot({kSearch})).find("</html>"), std::string::npos);
  EXPECT_NE(plot_page(plot({kSearch, trial_added("a", {{"x", {1, 2}}}), trial_added("b", {{"x", nullptr}})}))
                .find("</html>"),
            std::string::npos);
}

}  // namespace
}  // namespace radl::farm
