#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/human.h"
#include "runtime/plan/cost_rows.h"
#include "runtime/plan/render.h"

namespace radl {
namespace {

std::string time_text(double seconds) {
  double whole = std::ceil(seconds);
  if (whole < 120) return fmt::format("{:.0f} s", whole);
  if (whole < 7200) return fmt::format("{:.0f} min", std::ceil(whole / 60));
  return fmt::format("{:.1f} h", whole / 3600);
}

}  // namespace

std::string summary_line(const Plan& plan) {
  if (!plan.changes_anything()) {
    if (!plan.unseen.empty()) {
      return fmt::format("No changes in what could be checked; {} could not be checked.",
                         plan.unseen.size() == 1 ? plan.unseen.begin()->first
                                                 : fmt::format("{} things", plan.unseen.size()));
    }
    if (plan.partial && !plan.destroys) return "No changes within --target.";
    return plan.destroys ? "Nothing to destroy." : "No changes. The infrastructure is as the file says.";
  }
  const PlanTotals& totals = plan.totals;
  const std::pair<int, const char*> counts[] = {{totals.create, "to create"},
                                                {totals.update, "to change"},
                                                {totals.replace, "to replace"},
                                                {totals.remove, "to destroy"},
                                                {totals.forget, "to forget"}};
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [count, what] : counts) {
    if (count) add(fmt::format("{} {}", count, what));
  }
  if (totals.run) add(counted(totals.run, "step") + " to run");
  if (!plan.moves.empty()) add(fmt::format("{} moved", plan.moves.size()));
  if (const size_t kept = plan.protections.size() + plan.as_found.size() + plan.scaled.size(); kept > 0)
    add(fmt::format("{} to remember", kept));
  if (plan.actions.empty() && !plan.outputs.empty())
    add(counted(plan.outputs.size(), "output") + " to change");
  if (plan.destroys) return "Plan: " + text + ".";
  text += "; " + totals_text(totals, plan.costs.empty() ? "USD" : plan.costs[0].after.currency) +
          unpriced_text(plan);
  auto no_time = [&](std::string_view kind) {
    return std::any_of(plan.actions.begin(), plan.actions.end(), [&](const Action& action) {
      return action.is_step && !action.seconds && (action.step_kind == "program") == (kind == "program");
    });
  };
  if (!plan.actions.empty())
    text += "; about " + time_text(totals.seconds) + (no_time("training") ? " and the training" : "") +
            (no_time("program") ? " and the program" : "");
  return "Plan: " + text + ".";
}

}  // namespace radl
