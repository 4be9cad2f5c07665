// One page without scripts or outside parts, to be attached to a review.
#include <fmt/format.h>

#include "common/text_diff.h"
#include "runtime/plan/render.h"

namespace radl {

namespace {

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title><style>
body{{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}}
table{{border-collapse:collapse;width:100%}} td,th{{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}}
code,pre{{font:13px/1.4 ui-monospace,monospace}} pre{{margin:.2rem 0;white-space:pre-wrap}} .why{{color:#666}}
.create{{color:#116611}} .delete{{color:#a01010}} .replace{{color:#7a1fa2}} .update{{color:#8a6d00}} .run{{color:#0b5c99}} .forget{{color:#777}}
.sum{{font-weight:600;padding:.6rem;background:#f3f3f3}}
@media (prefers-color-scheme:dark){{body{{background:#161616;color:#e4e4e4}} .sum{{background:#262626}} td,th{{border-color:#333}} .why{{color:#999}}
.create{{color:#7ddb7d}} .delete{{color:#ff8a8a}} .replace{{color:#d9a3f0}} .update{{color:#e6c84f}} .run{{color:#7cc4ff}}}}
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
      lines += fmt::format("<span class=\"{}\">{}</span>\n", kind, escape(std::string(line)));
    }
    return fmt::format("<div>{}<pre>{}</pre></div>", escape(field), lines);
  }
  return fmt::format("<div>{}: <code>{}</code> &rarr; <code>{}</code></div>", escape(field),
                     escape(render_value(before, field)), escape(render_value(after, field)));
}

std::string action_row(const Action& action) {
  std::string details = escape(action.summary);
  for (const FieldChange& change : action.changes)
    details += change_html(change.field, change.before, change.after);
  std::string time = action.seconds ? fmt::format("{:.0f} s", *action.seconds) : "?";
  return fmt::format(
      "<tr><td class=\"{0}\"><code>{1}</code></td><td class=\"{0}\"><code>{2}</code></td><td>{3}</td>"
      "<td class=\"why\">{4}</td><td>{5}</td></tr>\n",
      verb_name(action.verb), escape(std::string(verb_mark(action.verb))), escape(action.id), details,
      escape(action.why), time);
}

std::string drift_html(const Plan& plan) {
  if (plan.drift.empty()) return "";
  std::string out = "<h2>Changed outside of radlc</h2><table>\n";
  for (const Drift& drift : plan.drift) {
    std::string details = escape(drift.detail);
    for (const Change& change : drift.changes) {
      details += change_html(change.resource + " " + change.what, change.before, change.after);
    }
    out += fmt::format("<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n", escape(drift.address),
                       escape(drift.what), details);
  }
  return out + "</table>\n";
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
        verb_name(output.verb), escape(std::string(verb_mark(output.verb))), escape(output.name),
        escape(text));
  }
  return out + "</table>\n";
}

}  // namespace

std::string render_html(const Plan& plan) {
  std::string title = escape((plan.destroys ? "Destroy plan of " : "Plan of ") + plan.infrastructure);
  std::string out = fmt::format(kHead, title, escape(summary_line(plan)));
  out += drift_html(plan);
  if (!plan.actions.empty()) {
    out += "<h2>Actions</h2><table><tr><th></th><th>what</th><th></th><th>why</th><th>time</th></tr>\n";
    for (const Action& action : plan.actions) out += action_row(action);
    out += "</table>\n";
  }
  out += outputs_html(plan);
  for (const std::string& note : plan.notes) out += "<p>Note: " + escape(note) + "</p>\n";
  out += fmt::format("<p class=\"why\">Source <code>{}</code>, state serial {}.</p>\n",
                     plan.source_digest.substr(0, 12), plan.serial);
  return out + "</body></html>\n";
}

}  // namespace radl
