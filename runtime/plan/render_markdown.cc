// A comment for a review, in the Markdown of GitHub and GitLab: the sum, the costs, and the plan itself
// folded.
#include <fmt/format.h>

#include <algorithm>

#include "common/html.h"
#include "common/text_diff.h"
#include "runtime/plan/cost_rows.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/render.h"

namespace radl {
namespace {

constexpr size_t kReserve = 400;  // bytes for what says that something was left out

// Removes characters with a special effect in terminals or browsers: control characters, and those that
// change the writing direction (Unicode TR 9, U+202A..E and U+2066..9).
std::string harmless(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::string_view next = text.substr(i, 3);
    const bool turns = (next >= "\xE2\x80\xAA" && next <= "\xE2\x80\xAE") ||
                       (next >= "\xE2\x81\xA6" && next <= "\xE2\x81\xA9");
    if (turns && next.size() == 3) {
      out += "?";
      i += 2;
    } else {
      out += (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ? '?' : text[i];
    }
  }
  return out;
}

// A fence that nothing in the text can end (GFM 4.5).
std::string fence_for(std::string_view text) {
  size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string row(std::initializer_list<std::string> cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + cell + " |";
  return out + "\n";
}

std::string markdown_candidates(const ResourceCost& cost) {
  std::string out;
  for (size_t i = 0; i < cost.candidates.size(); ++i) {
    const Offer& offer = cost.candidates[i];
    const std::string other = other_market_text(offer.facts);
    out += row({i == cost.chosen ? "&#10003;" : "",
                markdown_code(offer.name) + (offer.facts.market.empty() ? "" : " " + offer.facts.market),
                escape_markdown(shape_text(offer.facts)), offer_price_text(offer), other});
  }
  return out;
}

// The costs' table, and what else each machine could be.
std::string costs_markdown(const Plan& plan) {
  if (!costs_anything(plan)) return "";
  std::string table =
      "\n| what | machine | number | each an hour | an hour | a month |\n|---|---|--:|--:|--:|--:|\n";
  std::string candidates;
  for (const CostRow& one : cost_rows(plan)) {
    table += row({markdown_code(one.name), markdown_code(one.cost->machine), std::to_string(one.count),
                  amount_text(one, one.each), amount_text(one, one.after), month_text(one)});
    if (one.cost->candidates.size() < 2) continue;
    candidates += "\n" + markdown_code(one.name) +
                  " could be:\n\n| | type | | an hour | |\n|---|---|---|--:|---|\n" +
                  markdown_candidates(*one.cost);
  }
  const std::string& currency = plan.costs[0].after.currency;
  const std::string before = price_text(plan.totals.price_per_hour_before, currency),
                    after = price_text(plan.totals.price_per_hour, currency);
  table +=
      row({"**total**", "", "", "",
           "**" +
               (before == after || plan.totals.price_per_hour_before.zero() ? after
                                                                            : before + " &rarr; " + after) +
               "**",
           "**" + month_text(plan.totals.price_per_hour, currency) + "**" + unpriced_text(plan)});
  for (const std::string& remark : cost_remarks(plan)) table += "\n" + escape_markdown(remark) + "\n";
  if (candidates.empty()) return table;
  return table + "\n<details><summary>Candidates</summary>\n" + candidates + "\n</details>\n";
}

// As much of the text as fits, cut between lines.
std::string folded(const std::string& text, size_t room) {
  const std::string fence = fence_for(text);
  const std::string head = "\n<details><summary>All changes</summary>\n\n" + fence + "text\n",
                    tail = fence + "\n\n</details>\n";
  std::string shown;
  size_t left_out = 0;
  const size_t most =
      room > head.size() + tail.size() + kReserve ? room - head.size() - tail.size() - kReserve : 0;
  for (std::string_view line : split_lines(text)) {
    if (left_out > 0 || shown.size() + line.size() > most) {
      ++left_out;
      continue;
    }
    shown += line;
  }
  if (left_out == 0) return head + shown + tail;
  return head + shown + tail +
         fmt::format(
             "\n{} more lines are left out here: a comment takes {} characters. `radlc plan` shows all.\n",
             left_out, kMostMarkdown);
}

}  // namespace

std::string render_markdown(const Plan& plan, const std::vector<PlanForecast>& forecasts) {
  std::string out = fmt::format("### {} {}\n\n**{}**\n", plan.destroys ? "Destroy plan of" : "Plan of",
                                escape_markdown(plan.infrastructure), escape_markdown(summary_line(plan)));
  for (const std::string& line : unseen_told(plan.unseen))
    out += "\n:warning: " + escape_markdown(line) + "\n";
  for (const std::string& note : plan.notes) out += "\n> " + escape_markdown(note) + "\n";
  std::string costs = costs_markdown(plan);
  // Nodes that differ are a row each, so that the table alone may be too much; its total is in the first
  // line.
  if (out.size() + costs.size() > kMostMarkdown / 2)
    costs = "\nThe costs' table is left out here, it has too many rows; `radlc plan` shows it.\n";
  out += costs;
  for (const PlanForecast& forecast : forecasts) out += forecast_markdown(forecast);
  if (out.size() > kMostMarkdown / 2) {
    out.resize(kMostMarkdown / 2);
    while (!out.empty() && out.back() != '\n') out.pop_back();
    out += "\nMore notes are left out here; `radlc plan` shows all.\n";
  }
  const std::string end = fmt::format("\n<sub>Source {}, state serial {}.</sub>\n",
                                      plan.source_digest.substr(0, 12), plan.serial);
  if (plan.changes_anything() || !plan.drift.empty())
    out += folded(harmless(render_changes(plan)), kMostMarkdown - out.size() - end.size());
  return out + end;
}

}  // namespace radl
