// One page without scripts or outside parts, to be attached to a review.
#include <fmt/format.h>

#include "common/html.h"
#include "common/human.h"
#include "common/page_theme.h"
#include "common/text_diff.h"
#include "runtime/plan/cost_rows.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/render.h"
#include "runtime/plan/render_svg.h"

namespace radl {

namespace {

// What a plan adds to the theme: a color for each verb, and its drawing.
constexpr std::string_view kStyle = R"(
.create{color:var(--ok)}.delete{color:var(--bad)}.replace{color:var(--s4)}.update{color:var(--warn)}.run{color:var(--accent)}.forget{color:var(--ink2)}
svg text{font:12px var(--mono);fill:currentColor}svg rect{fill:var(--panel);stroke:currentColor;stroke-width:1.3}
svg .barrier{color:var(--ink2)}svg .barrier rect{stroke-dasharray:4 3}svg .edge{fill:none;stroke:var(--ink2)}svg .end{fill:var(--ink2)}
)";

std::string head(const std::string& title) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" "
         "content=\"radlc plan\"><meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\"><title>" +
         title + "</title><style>\n" + std::string(page_theme()) + std::string(kStyle) +
         "</style></head><body class=\"doc\"><h1>" + title + "</h1>\n";
}

std::string figure(const std::string& name, const std::string& value) {
  return "<div><dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd></div>";
}

// The result first: what would happen, what it costs, how long it takes.
std::string result_html(const Plan& plan, const std::vector<PlanForecast>& forecasts) {
  std::string figures;
  if (costs_anything(plan)) {
    const std::string& currency = plan.costs[0].after.currency;
    figures += figure("Price", price_text(plan.totals.price_per_hour, currency)) +
               figure("A month", month_text(plan.totals.price_per_hour, currency));
  }
  for (const PlanForecast& forecast : forecasts) {
    if (!forecast.total.known()) continue;
    figures += figure(forecast.training + ", 80% band",
                      duration_text(forecast.total.low) + " to " + duration_text(forecast.total.high));
  }
  return "<div class=\"result\">" + escape_html(summary_line(plan)) +
         (figures.empty() ? "" : "<dl class=\"figures\">" + figures + "</dl>") + "</div>\n";
}

std::string change_html(const std::string& field, const Json& before, const Json& after) {
  bool texts = before.is_string() && after.is_string();
  if (texts && (before.dump() + after.dump()).find("\\n") != std::string::npos) {
    std::string lines;
    std::string hunks = diff_hunks(before.get<std::string>(), after.get<std::string>(), 2);
    for (std::string_view line : split_lines(hunks)) {
      if (line.ends_with('\n')) line.remove_suffix(1);
      const char* kind = line.starts_with('+') ? "create" : line.starts_with('-') ? "delete" : "soft";
      lines += fmt::format("<span class=\"{}\">{}</span>\n", kind, escape_html(std::string(line)));
    }
    return fmt::format("<div>{}<pre>{}</pre></div>", escape_html(field), lines);
  }
  return fmt::format("<div>{}: <code>{}</code> &rarr; <code>{}</code></div>", escape_html(field),
                     escape_html(render_value(before, field)), escape_html(render_value(after, field)));
}

std::string action_row(const Action& action) {
  std::string details = escape_html(action.summary);
  for (const FieldChange& change : action.changes)
    details += change_html(change.field, change.before, change.after);
  std::string time = action.seconds ? fmt::format("{:.0f} s", *action.seconds) : "?";
  return fmt::format(
      "<tr><td class=\"{0}\"><code>{1}</code></td><td class=\"{0}\"><code>{2}</code></td><td>{3}</td>"
      "<td class=\"soft\">{4}</td><td class=\"num\">{5}</td></tr>\n",
      verb_name(action.verb), escape_html(std::string(verb_mark(action.verb))), escape_html(action.id),
      details, escape_html(action.why), time);
}

std::string drift_html(const Plan& plan) {
  if (plan.drift.empty()) return "";
  std::string out = "<h2>Changed outside of radlc</h2><table>\n";
  for (const Drift& drift : plan.drift) {
    std::string details = escape_html(drift.detail);
    for (const Change& change : drift.changes) {
      details += change_html(change.resource + " " + change.what, change.before, change.after);
    }
    out += fmt::format("<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n",
                       escape_html(drift.address), escape_html(drift.what), details);
  }
  return out + "</table>\n";
}

// All candidates of one row, folded: the chosen one is in the row.
std::string candidates_html(const CostRow& row) {
  const ResourceCost& cost = *row.cost;
  if (cost.candidates.size() < 2) return "";
  std::string out = "<details><summary><code>" + escape_html(row.name) +
                    "</code>: " + escape_html(cost.machine + ", " + preference_text(cost)) +
                    "</summary><table>\n<tr><th></th><th>type</th><th></th><th class=\"num\">per hour</th>"
                    "<th></th><th>other market</th></tr>\n";
  for (size_t i = 0; i < cost.candidates.size(); ++i) {
    const Offer& offer = cost.candidates[i];
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"num\">{}</td><td>{}</td><td>{}</td></tr>\n",
        i == cost.chosen ? "&#10003;" : "", escape_html(offer.name), escape_html(shape_text(offer.facts)),
        escape_html(offer_price_text(offer)), escape_html(offer.facts.market),
        escape_html(other_market_text(offer.facts)));
  }
  return out + "</table></details>\n";
}

std::string costs_html(const Plan& plan) {
  if (plan.costs.empty()) return "";
  std::string candidates;
  std::string out =
      "<h2>Costs</h2><table><thead><tr><th>what</th><th>machine</th><th class=\"num\">number</th>"
      "<th class=\"num\">each, per hour</th><th class=\"num\">before</th><th class=\"num\">after</th>"
      "<th class=\"num\">a month</th></tr></thead><tbody>\n";
  for (const CostRow& row : cost_rows(plan)) {
    out += fmt::format(
        "<tr><td><code>{}</code></td><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>"
        "<td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
        escape_html(row.name), escape_html(row.cost->machine), row.count,
        escape_html(amount_text(row, row.each)), escape_html(row.before.text()),
        escape_html(amount_text(row, row.after)), escape_html(month_text(row)));
    candidates += candidates_html(row);
  }
  const std::string& currency = plan.costs[0].after.currency;
  out += fmt::format(
      "</tbody><tfoot><tr><td colspan=\"4\">total</td><td class=\"num\">{}</td>"
      "<td class=\"num\">{}</td><td class=\"num\">{}</td></tr></tfoot></table>\n",
      escape_html(price_text(plan.totals.price_per_hour_before, currency)),
      escape_html(price_text(plan.totals.price_per_hour, currency)),
      escape_html(month_text(plan.totals.price_per_hour, currency) + unpriced_text(plan)));
  out += candidates;
  for (const std::string& remark : cost_remarks(plan))
    out += "<p class=\"soft\">" + escape_html(remark) + "</p>\n";
  return out;
}

std::string graph_html(const Plan& plan) {
  if (plan.actions.empty()) return "";
  std::string svg = render_svg(plan);
  if (svg.empty())
    return "<h2>Order</h2><p>This plan is too large for a drawing; <code>radlc plan --dot</code> writes all "
           "of it.</p>\n";
  return "<h2>Order</h2><p class=\"soft\">An arrow leads from an action to the actions that wait for "
         "it.</p><div "
         "class=\"drawing\">\n" +
         svg + "</div>\n";
}

std::string unseen_html(const Plan& plan) {
  std::string out;
  for (const std::string& line : unseen_told(plan.unseen))
    out += "<p class=\"bad\">" + escape_html(line) + "</p>\n";
  return out;
}

std::string outputs_html(const Plan& plan) {
  if (plan.outputs.empty()) return "";
  std::string out = "<h2>Outputs</h2><table>\n";
  for (const OutputChange& output : plan.outputs) {
    Json value = output.verb == Verb::Delete ? output.before : output.after;
    std::string text = output.sensitive ? "(sensitive)" : render_value(value);
    out += fmt::format(
        "<tr><td "
        "class=\"{0}\"><code>{1}</code></td><td><code>{2}</code></td><td><code>{3}</code></td></tr>\n",
        verb_name(output.verb), escape_html(std::string(verb_mark(output.verb))), escape_html(output.name),
        escape_html(text));
  }
  return out + "</table>\n";
}

}  // namespace

std::string render_html(const Plan& plan, const std::vector<PlanForecast>& forecasts) {
  std::string title = escape_html((plan.destroys ? "Destroy plan of " : "Plan of ") + plan.infrastructure);
  std::string out = head(title) + result_html(plan, forecasts);
  out += unseen_html(plan);
  out += drift_html(plan);
  if (!plan.actions.empty()) {
    out +=
        "<h2>Actions</h2><div class=\"wide\"><table><tr><th></th><th>what</th><th></th><th>why</th><th "
        "class=\"num\">time</th></tr>\n";
    for (const Action& action : plan.actions) out += action_row(action);
    out += "</table></div>\n";
  }
  out += outputs_html(plan);
  out += costs_html(plan);
  for (const PlanForecast& forecast : forecasts) out += forecast_html(forecast);
  out += graph_html(plan);
  if (!plan.notes.empty()) {
    out += "<h2>Notes</h2><ul>\n";
    for (const std::string& note : plan.notes) out += "<li>" + escape_html(note) + "</li>\n";
    out += "</ul>\n";
  }
  out += fmt::format("<p class=\"soft\">Source <code>{}</code>, state serial {}.</p>\n",
                     plan.source_digest.substr(0, 12), plan.serial);
  return out + "</body></html>\n";
}

}  // namespace radl
