// One page without scripts or outside parts, to be attached to a review.
#include <fmt/format.h>

#include "common/html.h"
#include "common/text_diff.h"
#include "runtime/plan/cost_rows.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/render.h"
#include "runtime/plan/render_svg.h"

namespace radl {

namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="radlc plan"><title>{0}</title><style>
body{{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}}
table{{border-collapse:collapse;width:100%}} td,th{{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}}
code,pre{{font:13px/1.4 ui-monospace,monospace}} pre{{margin:.2rem 0;white-space:pre-wrap}} .why{{color:#666}}
.create{{color:#116611}} .delete{{color:#a01010}} .replace{{color:#7a1fa2}} .update{{color:#8a6d00}} .run{{color:#0b5c99}} .forget{{color:#777}}
.sum{{font-weight:600;padding:.6rem;background:#f3f3f3}} .unseen{{color:#a01010;font-weight:600}}
td.price,th.price{{text-align:right;white-space:nowrap}} tfoot td{{font-weight:600}}
.graph{{overflow-x:auto;border:1px solid #ddd;padding:.4rem}} svg text{{font:12px ui-monospace,monospace;fill:currentColor}}
svg rect{{fill:#fff;stroke:currentColor;stroke-width:1.3}} svg .barrier{{color:#777}} svg .barrier rect{{stroke-dasharray:4 3}}
svg .edge{{fill:none;stroke:#999}} svg .end{{fill:#999}}
@media (prefers-color-scheme:dark){{body{{background:#161616;color:#e4e4e4}} .sum{{background:#262626}} td,th{{border-color:#333}} .why{{color:#999}}
.create{{color:#7ddb7d}} .delete{{color:#ff8a8a}} .replace{{color:#d9a3f0}} .update{{color:#e6c84f}} .run{{color:#7cc4ff}}
.unseen{{color:#ff8a8a}} .graph{{border-color:#333}} svg rect{{fill:#1e1e1e}} svg .barrier{{color:#999}}}}
</style></head><body><h1>{0}</h1><p class="sum">{1}</p>
)";

std::string change_html(const std::string& field, const Json& before, const Json& after) {
  bool texts = before.is_string() && after.is_string();
  if (texts && (before.dump() + after.dump()).find("\\n") != std::string::npos) {
    std::string lines;
    std::string hunks = diff_hunks(before.get<std::string>(), after.get<std::string>(), 2);
    for (std::string_view line : split_lines(hunks)) {
      if (line.ends_with('\n')) line.remove_suffix(1);
      const char* kind = line.starts_with('+') ? "create" : line.starts_with('-') ? "delete" : "why";
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
      "<td class=\"why\">{4}</td><td>{5}</td></tr>\n",
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

std::string candidate_rows(const ResourceCost& cost) {
  std::string out;
  for (size_t i = 0; i < cost.candidates.size(); ++i) {
    const Offer& offer = cost.candidates[i];
    const bool chosen = i == cost.chosen;
    out += fmt::format(
        "<tr class=\"why\"><td class=\"price\">{}</td><td>{} {}</td><td></td><td class=\"price\">{}</td>"
        "<td colspan=\"3\">{}</td></tr>\n",
        chosen ? "&#10003; chosen" : "", escape_html(offer.name), escape_html(shape_text(offer.facts)),
        escape_html(offer_price_text(offer)),
        escape_html(offer.facts.market +
                    (other_market_text(offer.facts).empty() ? "" : "; " + other_market_text(offer.facts))));
  }
  return out;
}

std::string costs_html(const Plan& plan) {
  if (plan.costs.empty()) return "";
  std::string out =
      "<h2>Costs an hour</h2><table><thead><tr><th>what</th><th>machine</th><th class=\"price\">number</th>"
      "<th class=\"price\">each</th><th class=\"price\">before</th><th class=\"price\">after</th>"
      "<th class=\"price\">a month</th></tr></thead><tbody>\n";
  for (const CostRow& row : cost_rows(plan)) {
    out += fmt::format(
        "<tr><td><code>{}</code></td><td>{}</td><td class=\"price\">{}</td><td class=\"price\">{}</td>"
        "<td class=\"price\">{}</td><td class=\"price\">{}</td><td class=\"price\">{}</td></tr>\n",
        escape_html(row.name), escape_html(row.cost->machine), row.count,
        escape_html(amount_text(row, row.each)), escape_html(row.before.text()),
        escape_html(amount_text(row, row.after)), escape_html(month_text(row)));
    out += candidate_rows(*row.cost);
  }
  const std::string& currency = plan.costs[0].after.currency;
  out += fmt::format(
      "</tbody><tfoot><tr><td colspan=\"4\">total</td><td class=\"price\">{}</td>"
      "<td class=\"price\">{}</td><td class=\"price\">{}</td></tr></tfoot></table>\n",
      escape_html(price_text(plan.totals.price_per_hour_before, currency)),
      escape_html(price_text(plan.totals.price_per_hour, currency)),
      escape_html(month_text(plan.totals.price_per_hour, currency) + unpriced_text(plan)));
  for (const std::string& remark : cost_remarks(plan))
    out += "<p class=\"why\">" + escape_html(remark) + "</p>\n";
  return out;
}

std::string graph_html(const Plan& plan) {
  if (plan.actions.empty()) return "";
  std::string svg = render_svg(plan);
  if (svg.empty())
    return "<h2>Order</h2><p>Too much to be drawn here; <code>radlc plan --dot</code> gives all of it.</p>\n";
  return "<h2>Order</h2><p class=\"why\">An arrow goes from what must be done to what waits for it.</p><div "
         "class=\"graph\">\n" +
         svg + "</div>\n";
}

std::string unseen_html(const Plan& plan) {
  std::string out;
  for (const std::string& line : unseen_told(plan.unseen))
    out += "<p class=\"unseen\">" + escape_html(line) + "</p>\n";
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
  std::string out = fmt::format(kHead, title, escape_html(summary_line(plan)));
  out += unseen_html(plan);
  out += drift_html(plan);
  if (!plan.actions.empty()) {
    out += "<h2>Actions</h2><table><tr><th></th><th>what</th><th></th><th>why</th><th>time</th></tr>\n";
    for (const Action& action : plan.actions) out += action_row(action);
    out += "</table>\n";
  }
  out += graph_html(plan);
  out += costs_html(plan);
  for (const PlanForecast& forecast : forecasts) out += forecast_html(forecast);
  out += outputs_html(plan);
  for (const std::string& note : plan.notes) out += "<p>Note: " + escape_html(note) + "</p>\n";
  out += fmt::format("<p class=\"why\">Source <code>{}</code>, state serial {}.</p>\n",
                     plan.source_digest.substr(0, 12), plan.serial);
  return out + "</body></html>\n";
}

}  // namespace radl
