// The plan as text: what changes, why, and one line that sums it up.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/human.h"
#include "common/replaced.h"
#include "common/text_diff.h"
#include "runtime/base/world.h"
#include "runtime/plan/cost_rows.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/render.h"
#include "runtime/plan/wrap_columns.h"

namespace radl {

namespace {

constexpr const char* kReset = "\x1b[0m";

const char* color_of(Verb verb) {
  switch (verb) {
    case Verb::Create:
      return "\x1b[32m";
    case Verb::Update:
      return "\x1b[33m";
    case Verb::Replace:
      return "\x1b[35m";
    case Verb::Delete:
      return "\x1b[31m";
    case Verb::Run:
      return "\x1b[36m";
    case Verb::Forget:
      return "\x1b[2m";
  }
  return "";
}

// Actions that differ in the ordinal of their node alone, shown as one line.
struct Group {
  const Action* first = nullptr;
  std::string prefix, suffix;  // "worker", "/tools"
  std::vector<int> ordinals;   // empty: no ordinal in its id
};

std::string group_id(const Group& group) {
  if (group.ordinals.empty()) return group.first->id;
  return group.prefix + "[" + ranges(group.ordinals) + "]" + group.suffix;
}

// A script's text is a name in a summary: its lines would break the columns.
std::string one_line(const std::string& text) {
  std::string line;
  for (char c : text) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (!space)
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  }
  return line;
}

bool hides_field(const Action& action, const FieldChange& change) {
  // A number that the state keeps and a fingerprint say nothing to a reader.
  return action.is_step && change.field.size() > 7 &&
         change.field.compare(change.field.size() - 7, 7, "_sha256") == 0;
}

class Text {
 public:
  Text(const Plan& plan, const PlanTextOptions& options) : plan_(plan), options_(options) {}

  std::string render() {
    if (options_.brief) return summary_line(plan_) + "\n";
    changes();
    costs();
    forecasts();
    notes();
    if (!out_.empty()) out_ += "\n";
    out_ += paint("\x1b[1m", summary_line(plan_)) + "\n";
    return std::move(out_);
  }

  std::string take_changes() {
    changes();
    return std::move(out_);
  }

 private:
  void changes() {
    drift();
    moves();
    actions();
    outputs();
  }

  std::string paint(const char* color, const std::string& text) const {
    return options_.color ? color + text + kReset : text;
  }

  std::string mark(Verb verb) const { return paint(color_of(verb), fmt::format("{:>3}", verb_mark(verb))); }

  void heading(const std::string& text) {
    if (!out_.empty()) out_ += "\n";
    out_ += paint("\x1b[1m", text) + "\n";
  }

  std::vector<Group> groups() const {
    std::vector<Group> all;
    std::map<std::string, size_t> index;
    for (const Action& action : plan_.actions) {
      Group group{&action, "", "", {}};
      int ordinal = 0;
      bool folds = !options_.full && split_ordinal(action.id, group.prefix, ordinal, group.suffix);
      if (!folds) {
        all.push_back(group);
        continue;
      }
      group.ordinals = {ordinal};
      std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", verb_name(action.verb), group.prefix,
                                    group.suffix, summary(action), why(action), changes_key(action));
      auto [at, is_new] = index.try_emplace(key, all.size());
      if (is_new) {
        all.push_back(group);
      } else {
        all[at->second].ordinals.push_back(ordinal);
      }
    }
    return all;
  }

  static std::string own_node(const Action& action) {
    return action.nodes.size() == 1 ? action.nodes[0] : "";
  }

  std::string summary(const Action& action) const {
    // What a removal is called by its cloud differs from one to the next and matters only in full.
    return action.verb == Verb::Delete && !options_.full ? action.cloud : one_line(action.summary);
  }

  // The reason, if it says more than the mark; replaces the node's name by "its node".
  std::string why(const Action& action) const {
    bool plain = action.why == "new" || action.why == "its node is new" || action.why == "destroy";
    if (plain && !options_.full) return "";
    std::string node = own_node(action);
    return node.empty() || options_.full ? action.why : replaced(action.why, node, "its node");
  }

  std::string changes_key(const Action& action) const {
    std::string key;
    std::string node = own_node(action);
    for (const FieldChange& change : action.changes) {
      std::string text = change.field + "\t" + change.before.dump() + "\t" + change.after.dump() + "\n";
      key += node.empty() ? text : replaced(text, node, "?");
    }
    return key;
  }

  void actions() {
    std::vector<Group> all = groups();
    size_t widest = 0;
    for (const Group& group : all) widest = std::max(widest, group_id(group).size());
    widest = std::min<size_t>(widest, 40);
    if (!all.empty() && !out_.empty()) out_ += "\n";
    for (const Group& group : all) {
      const Action& action = *group.first;
      std::string line =
          fmt::format("{} {:<{}}  {}", mark(action.verb), group_id(group), widest, summary(action));
      if (std::string reason = why(action); !reason.empty()) line += paint("\x1b[2m", "  [" + reason + "]");
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out_ += line + "\n";
      for (const FieldChange& change : action.changes) field(action, change);
      if (options_.full) details(action);
    }
  }

  void details(const Action& action) {
    if (!action.is_step && action.verb == Verb::Create && action.spec.is_object()) {
      for (const auto& [key, value] : action.spec.items())
        out_ += fmt::format("        {}  {}\n", key, render_value(value, key));
    }
    for (const std::string& reason : action.order)
      out_ += "        " + paint("\x1b[2m", "after: " + reason) + "\n";
  }

  // What is shown by its difference where it has lines: a text, or those of a list one after the other.
  static std::optional<std::string> lines_in(const Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return std::nullopt;
    std::string text;
    bool lines = false;
    for (const Json& one : value) {
      if (!one.is_string()) return std::nullopt;
      lines |= one.get_ref<const std::string&>().find('\n') != std::string::npos;
      text += one.get_ref<const std::string&>();
      if (!text.ends_with('\n')) text += '\n';
    }
    return lines ? std::optional(text) : std::nullopt;
  }

  void field(const Action& action, const FieldChange& change) {
    if (hides_field(action, change) && !options_.full) return;
    const std::string forces = change.forces_replacement ? paint("\x1b[35m", "  (forces a new one)")
                               : change.forces_restart   ? paint("\x1b[33m", "  (restarts it)")
                                                         : "";
    const auto before = lines_in(change.before), after = lines_in(change.after);
    const bool none = change.before.is_null() || change.after.is_null();
    const bool lists = change.before.is_array() || change.after.is_array();
    if (before && after && (!none || lists) && (*before + *after).find('\n') != std::string::npos) {
      out_ += "        " + change.field + forces + "\n";
      diff(*before, *after);
      return;
    }
    out_ += fmt::format("        {}  {} -> {}{}\n", change.field, render_value(change.before, change.field),
                        render_value(change.after, change.field), forces);
  }

  void diff(const std::string& before, const std::string& after) {
    colored_diff(diff_hunks(before, after, 2));
  }

  // Each line in the colour of what happens to it.
  void colored_diff(const std::string& hunks) {
    for (std::string_view line : split_lines(hunks)) {
      if (line.ends_with('\n')) line.remove_suffix(1);
      const char* color = line.starts_with('+') ? "\x1b[32m" : line.starts_with('-') ? "\x1b[31m" : "\x1b[2m";
      out_ += "          " + paint(color, std::string(line)) + "\n";
    }
  }

  void drift() {
    if (plan_.drift.empty()) return;
    heading("Changed outside of radlc:");
    for (const Drift& drift : plan_.drift) {
      out_ += fmt::format("  {} {}  {}{}\n", paint("\x1b[33m", "!"), drift.address, drift.what,
                          drift.detail.empty() ? "" : ": " + drift.detail);
      for (const Change& change : drift.changes) drift_change(change);
    }
  }

  void drift_change(const Change& change) {
    std::string name = change.resource + (change.what.empty() ? "" : " " + change.what);
    if (change.diff.empty()) {
      out_ += fmt::format("        {}  is {}, was applied as {}\n", name,
                          render_value(change.before, change.what), render_value(change.after, change.what));
      return;
    }
    out_ += "        " + name + "\n";
    colored_diff(change.diff);
  }

  // What the state calls otherwise, and what it remembers of prevent_destroy.
  void moves() {
    if (!plan_.moves.empty()) heading("Renamed, otherwise unchanged:");
    for (const state_change::Move& move : plan_.moves)
      out_ += fmt::format("  {} -> {}\n", move.from, move.to);
    if (plan_.protections.empty() && plan_.as_found.empty() && plan_.scaled.empty()) return;
    heading("Remembered:");
    for (const state_change::PutScaling& put : plan_.scaled)
      out_ += put.chosen ? fmt::format(
                               "  {}  has the nodes [{}] until `radlc scale`, its elastic farm or the file "
                               "changes them\n",
                               put.system, ranges(put.chosen->ordinals))
                         : fmt::format("  {}  has the number of nodes in the file again\n", put.system);
    for (const auto& [address, spec] : plan_.as_found)
      out_ += fmt::format("  {}  is up to date already\n", address);
    for (const auto& [address, by] : plan_.protections)
      out_ += fmt::format("  {}  {}\n", address,
                          by.empty() ? "may be destroyed from now on"
                                     : "must not be destroyed (prevent_destroy, " + by + ")");
  }

  void outputs() {
    if (plan_.outputs.empty() || plan_.destroys) return;
    heading("Outputs:");
    for (const OutputChange& output : plan_.outputs) {
      std::string value = output.sensitive ? "(sensitive)"
                          : output.verb == Verb::Update
                              ? render_value(output.before) + " -> " + render_value(output.after)
                          : output.verb == Verb::Delete ? render_value(output.before)
                                                        : render_value(output.after);
      out_ += fmt::format("{} {} = {}\n", mark(output.verb), output.name, value);
    }
  }

  // A line for each kind of machine: its price, and what it was preferred to. In full, every candidate.
  void costs() {
    if (!plan_.changes_anything() || !costs_anything(plan_)) return;
    heading("Costs:");
    const std::vector<CostRow> rows = cost_rows(plan_);
    size_t name = 5, machine = 0;
    bool chose = false;
    for (const CostRow& row : rows) {
      name = std::max(name, row.name.size());
      machine = std::max(machine, row.cost->machine.size());
    }
    for (const CostRow& row : rows) {
      const std::string now = row.before == row.after || row.before.zero()
                                  ? row.after.text() + "/h"
                                  : row.before.text() + " -> " + row.after.text() + "/h";
      out_ +=
          fmt::format("  {:<{}}  {:<{}}  {:>4} x ", row.name, name, row.cost->machine, machine, row.count);
      out_ += row.cost->priced() ? fmt::format("{}/h = {}, {} a month", row.each.text(), now, month_text(row))
                                 : "not known";
      if (options_.full) {
        out_ += "\n";
        candidates(*row.cost);
      } else {
        const std::string preference = preference_text(*row.cost);
        chose |= !preference.empty();
        out_ += (preference.empty() ? "" : "; " + preference) + "\n";
      }
    }
    const std::string currency = plan_.costs[0].after.currency;
    out_ += fmt::format("  {:<{}}  {}, {} a month{}\n", "total", name, totals_text(plan_.totals, currency),
                        month_text(plan_.totals.price_per_hour, currency), unpriced_text(plan_));
    std::string remarks;
    for (const std::string& remark : cost_remarks(plan_)) remarks += (remarks.empty() ? "" : " ") + remark;
    if (chose) remarks += " --full lists every candidate.";
    out_ += paint("\x1b[2m", "  " + remarks) + "\n";
  }

  void forecasts() {
    for (const PlanForecast& forecast : options_.forecasts) {
      const std::string text = forecast_text(forecast);
      const size_t line = text.find('\n');
      heading(text.substr(0, line));
      out_ += text.substr(line + 1);
    }
  }

  void candidates(const ResourceCost& cost) {
    size_t name = 0, shape = 0;
    for (const Offer& offer : cost.candidates) {
      name = std::max(name, offer.name.size());
      shape = std::max(shape, shape_text(offer.facts).size());
    }
    for (size_t i = 0; i < cost.candidates.size(); ++i) {
      const Offer& offer = cost.candidates[i];
      const std::string other = other_market_text(offer.facts);
      std::string line = fmt::format(
          "    {} {:<{}}  {:<{}}  {}{}{}", i == cost.chosen ? "*" : " ", offer.name, name,
          shape_text(offer.facts), shape, offer_price_text(offer),
          offer.facts.market.empty() ? "" : " " + offer.facts.market, other.empty() ? "" : "; " + other);
      out_ += (i == cost.chosen ? line : paint("\x1b[2m", line)) + "\n";
    }
  }

  void notes() {
    if (plan_.notes.empty()) return;
    if (!out_.empty()) out_ += "\n";
    for (const std::string& note : plan_.notes) out_ += paint("\x1b[33m", "note:") + " " + note + "\n";
  }

  const Plan& plan_;
  const PlanTextOptions& options_;
  std::string out_;
};

}  // namespace

std::string render_changes(const Plan& plan) {
  const PlanTextOptions plain;
  return Text(plan, plain).take_changes();
}

std::string render_text(const Plan& plan, const PlanTextOptions& options) {
  return wrap_columns(Text(plan, options).render(), options.width);
}

}  // namespace radl
