// A plan for people: only what changes, one summary line.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/forecast.h"
#include "runtime/plan/plan.h"

namespace radl {

struct PlanTextOptions {
  bool color = false;
  bool full = false;   // every field of what is created, no folding of equal actions, the order's reasons
  bool brief = false;  // the summary line alone
  size_t width = 0;    // columns of the terminal, at which lines are wrapped; 0: they are not
  std::vector<PlanForecast> forecasts;  // of the trainings that the plan runs
};

std::string render_text(const Plan& plan, const PlanTextOptions& options = {});
// "Plan: 3 to create, 4 steps to run; 0.00 USD/h; about 12 s and a training." or "No changes: ...".
std::string summary_line(const Plan& plan);
// "0.10 USD/h", "0.10 EUR/h and 0.20 USD/h"; nothing is 0 of `currency`.
std::string price_text(const MoneySum& sum, const std::string& currency);
// Of when the prices are: "Prices are of the catalog of 2025-01-15."; empty where nothing costs anything.
std::string price_dates(const Plan& plan);
std::string render_dot(const Plan& plan);
// What render_text() says before its last line, without the costs' table.
std::string render_changes(const Plan& plan);
// A comment of a pull request: the sum, the costs, and the rest folded. Names in it are text, whatever they
// are made of. At most kMostMarkdown bytes: what does not fit is left out, and a line says so.
std::string render_markdown(const Plan& plan, const std::vector<PlanForecast>& forecasts = {});
inline constexpr size_t kMostMarkdown = 65536;  // what GitHub takes as a comment
// One self-contained page for a review.
std::string render_html(const Plan& plan, const std::vector<PlanForecast>& forecasts = {});
// One value, as in the text: numbers with their unit where `field` says it is a size, unknown and secret
// parts shown as such.
std::string render_value(const Json& value, const std::string& field = {});

}  // namespace radl
