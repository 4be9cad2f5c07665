// Renders a plan for people: only changes, and one summary line.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/forecast.h"
#include "runtime/plan/plan.h"

namespace radl {

struct PlanTextOptions {
  bool color = false;
  bool full = false;   // all fields of new resources, no grouping of equal actions, reasons for the order
  bool brief = false;  // only the summary line
  size_t width = 0;    // terminal columns for wrapping; 0: no wrapping
  std::vector<PlanForecast> forecasts;  // for the trainings that the plan runs
};

std::string render_text(const Plan& plan, const PlanTextOptions& options = {});
// "Plan: 3 to create, 4 steps to run; 0.00 USD/h; about 12 s and a training." or "No changes: ...".
std::string summary_line(const Plan& plan);
// "0.10 USD/h", "0.10 EUR/h and 0.20 USD/h"; an empty sum is 0 of `currency`.
std::string price_text(const MoneySum& sum, const std::string& currency);
// The date of the prices: "Prices are of the catalog of 2025-01-15."; empty if nothing has a price.
std::string price_dates(const Plan& plan);
std::string render_dot(const Plan& plan);
// The part of render_text() before its last line, without the cost table.
std::string render_changes(const Plan& plan);
// A pull request comment: the summary, the costs, and the rest folded. Escapes all names. At most
// kMostMarkdown bytes: omits what does not fit, with a note.
std::string render_markdown(const Plan& plan, const std::vector<PlanForecast>& forecasts = {});
inline constexpr size_t kMostMarkdown = 65536;  // GitHub's limit for a comment
// A self-contained page for a review.
std::string render_html(const Plan& plan, const std::vector<PlanForecast>& forecasts = {});
// A value as in the text: numbers with their unit if `field` is a size; unknown and secret parts are
// marked.
std::string render_value(const Json& value, const std::string& field = {});

}  // namespace radl
