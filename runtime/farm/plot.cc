#include "runtime/farm/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "common/html.h"
#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr double kWidth = 1100, kHeight = 360, kMargin = 70, kTop = 40;
constexpr size_t kMostChoices = 30;  // labels of an axis
constexpr int kTicks = 4;

constexpr const char* kStyle = R"css(<style>
:root{--bg:#fff;--fg:#1c2024;--soft:#667;--line:#dde1e6}
@media(prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e8ea;--soft:#99a;--line:#333a41}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
svg{width:100%;height:auto}svg text{font-size:12px;fill:var(--soft)}svg .title{fill:var(--fg);font-weight:600}
.axis{stroke:var(--line)}polyline{fill:none;stroke-width:1.5;opacity:.7}polyline:hover{stroke-width:4;opacity:1}.best{stroke-width:4;opacity:1}
table{border-collapse:collapse}td,th{padding:.25em .7em;text-align:left;border-bottom:1px solid var(--line)}
</style>
)css";

// One dimension of the trials: numbers, or texts in the order of their names.
struct Axis {
  std::string name;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool log = false;
  std::vector<std::string> texts;  // not empty: a choice
  std::optional<double> place(const Json& value) const {
    if (!texts.empty()) {
      auto found = std::find(texts.begin(), texts.end(), value.dump());
      if (found == texts.end()) return std::nullopt;
      return (static_cast<double>(found - texts.begin()) + 0.5) / static_cast<double>(texts.size());
    }
    if (!value.is_number()) return std::nullopt;
    const double number = value.get<double>();
    if (high <= low) return 0.5;
    return log ? std::log(number / low) / std::log(high / low) : (number - low) / (high - low);
  }
  double at(double place) const {
    return log ? low * std::pow(high / low, place) : low + place * (high - low);
  }
};

Axis axis_of(const std::string& name, const std::vector<Json>& values) {
  Axis axis;
  axis.name = name;
  const bool numbers = std::all_of(values.begin(), values.end(), [](const Json& v) { return v.is_number(); });
  for (const Json& value : values) {
    if (!numbers) {
      axis.texts.push_back(value.dump());
      continue;
    }
    axis.low = std::min(axis.low, value.get<double>());
    axis.high = std::max(axis.high, value.get<double>());
  }
  std::sort(axis.texts.begin(), axis.texts.end());
  axis.texts.erase(std::unique(axis.texts.begin(), axis.texts.end()), axis.texts.end());
  axis.log = numbers && axis.low > 0 && axis.high > 30 * axis.low;
  return axis;
}

double y_of(double place) { return kTop + (1 - place) * (kHeight - kTop - 30); }

std::string ticks_of(const Axis& axis, double x) {
  std::string out;
  auto label = [&](double place, const std::string& text) {
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 5, y_of(place) + 4, escape_html(text));
  };
  for (size_t i = 0; i < std::min(axis.texts.size(), kMostChoices); ++i)
    label((static_cast<double>(i) + 0.5) / static_cast<double>(axis.texts.size()), axis.texts[i]);
  for (int i = 0; axis.texts.empty() && i <= kTicks; ++i)
    label(static_cast<double>(i) / kTicks, fmt::format("{:.3g}", axis.at(static_cast<double>(i) / kTicks)));
  return out;
}

// From blue, the best, to red.
std::string color_of(double share) { return fmt::format("hsl({:.0f} 65% 50%)", 220 - 210 * share); }

struct Line {
  std::string task, points;
  double rank = 1;  // 0: the best
};

std::string lines_of(std::vector<Line> lines) {  // the best on top
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.rank > b.rank; });
  std::string out;
  for (const Line& line : lines)
    out += fmt::format("<polyline{} stroke=\"{}\" points=\"{}\"><title>{}</title></polyline>\n",
                       line.rank == 0 ? " class=\"best\"" : "", color_of(line.rank), line.points,
                       escape_html(line.task));
  return out;
}

std::string svg_of(const std::string& inside) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">\n{}</svg>\n", kWidth, kHeight, inside);
}

// From 0, the best, to 1, by the place among the trials with a value.
std::map<std::string, double> ranks_of(const Json& plot) {
  std::vector<std::pair<double, std::string>> order;
  const double sign = json::text_of(plot, "goal") == "max" ? -1 : 1;
  for (const Json& trial : json::list_of(plot, "trials"))
    if (trial.contains("value")) order.emplace_back(sign * trial["value"].get<double>(), trial["task"]);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::string, double> ranks;
  for (size_t i = 0; i < order.size(); ++i)
    ranks[order[i].second] =
        static_cast<double>(i) / std::max<double>(1, static_cast<double>(order.size()) - 1);
  return ranks;
}

std::string coordinates(const Json& plot, const std::map<std::string, double>& ranks) {
  std::map<std::string, std::vector<Json>> values;
  std::vector<Json> metric;
  for (const Json& trial : json::list_of(plot, "trials")) {
    for (const auto& [name, value] : json::member(trial, "parameters").items()) values[name].push_back(value);
    if (trial.contains("value")) metric.push_back(trial["value"]);
  }
  std::vector<Axis> axes;
  for (const auto& [name, all] : values) axes.push_back(axis_of(name, all));
  if (!metric.empty()) axes.push_back(axis_of(json::text_of(plot, "metric"), metric));
  auto x_of = [&](size_t i) {
    const double gaps = std::max<double>(1, static_cast<double>(axes.size()) - 1);
    return kMargin + static_cast<double>(i) * (kWidth - 2 * kMargin) / gaps;
  };
  std::string out;
  for (size_t i = 0; i < axes.size(); ++i)
    out += fmt::format(
               "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n"
               "<text class=\"title\" text-anchor=\"middle\" x=\"{0:.1f}\" y=\"20\">{3}</text>\n",
               x_of(i), y_of(1), y_of(0), escape_html(axes[i].name)) +
           ticks_of(axes[i], x_of(i));
  std::vector<Line> lines;
  for (const Json& trial : json::list_of(plot, "trials")) {
    Line line{trial["task"], "", 1};
    if (auto rank = ranks.find(line.task); rank != ranks.end()) line.rank = rank->second;
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool last = i + 1 == axes.size() && !metric.empty();
      const auto place = axes[i].place(last ? json::member(trial, "value")
                                            : json::member(json::member(trial, "parameters"), axes[i].name));
      if (place) line.points += fmt::format("{:.1f},{:.1f} ", x_of(i), y_of(*place));
    }
    lines.push_back(std::move(line));
  }
  return svg_of(out + lines_of(std::move(lines)));
}

std::string curves_of(const Json& plot, const std::map<std::string, double>& ranks) {
  std::vector<Json> numbers, reports;
  for (const Json& trial : json::list_of(plot, "trials")) {
    for (const Json& point : json::list_of(trial, "curve")) {
      reports.push_back(point[0]);
      numbers.push_back(point[1]);
    }
  }
  if (numbers.empty()) return "<p>No trial has reported the metric yet.</p>\n";
  const Axis y = axis_of(json::text_of(plot, "metric"), numbers);
  Axis x = axis_of("report", reports);
  x.log = false;
  std::vector<Line> lines;
  for (const Json& trial : json::list_of(plot, "trials")) {
    Line line{trial["task"], "", 1};
    if (auto rank = ranks.find(line.task); rank != ranks.end()) line.rank = rank->second;
    for (const Json& point : json::list_of(trial, "curve"))
      line.points += fmt::format("{:.1f},{:.1f} ", kMargin + *x.place(point[0]) * (kWidth - 2 * kMargin),
                                 y_of(*y.place(point[1])));
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return svg_of(fmt::format(
      "<text class=\"title\" x=\"5\" y=\"20\">{}</text>\n{}"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">report {:.0f} to {:.0f}</text>\n{}",
      escape_html(y.name), ticks_of(y, 0), kMargin, kHeight - 5, x.low, x.high, lines_of(std::move(lines))));
}

std::string rows_of(const Json& plot, const std::map<std::string, double>& ranks) {
  std::vector<std::pair<double, const Json*>> order;
  const Json& trials = json::list_of(plot, "trials");
  for (const Json& trial : trials) {
    auto rank = ranks.find(trial["task"]);
    order.emplace_back(rank == ranks.end() ? 2 : rank->second, &trial);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out =
      fmt::format("<table>\n<tr><th>trial</th><th>state</th><th>{}</th><th>parameters</th></tr>\n",
                  escape_html(json::text_of(plot, "metric")));
  for (const auto& [rank, trial] : order)
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", escape_html(json::text_of(*trial, "task")),
        json::text_of(*trial, "state"),
        trial->contains("value") ? fmt::format("{:.6g}", json::number_of(*trial, "value")) : "",
        escape_html(json::member(*trial, "parameters").dump(-1, ' ', false, Json::error_handler_t::replace)));
  return out + "</table>\n";
}

}  // namespace

void Curves::observe(const Event& event) {
  const std::string kind = json::text_of(event, "event");
  if (kind == "farm" && !given_) metric_ = json::text_of(event, "metric");
  if (kind == "start") curves_.erase(json::text_of(event, "task"));
  if (kind != "metric") return;
  const Json& value = json::member(json::member(event, "values"), metric_);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return;
  curves_[json::text_of(event, "task")].emplace_back(static_cast<int>(json::number_of(event, "report")),
                                                     value.get<double>());
}

const std::vector<std::pair<int, double>>& Curves::of(const std::string& task) const {
  static const std::vector<std::pair<int, double>> kNone;
  auto found = curves_.find(task);
  return found == curves_.end() ? kNone : found->second;
}

Result<Json> plot_of(const std::string& farm, const Table& table, const Curves& curves,
                     const std::string& other) {
  const std::string metric = other.empty() ? json::text_of(table.settings(), "metric") : other;
  if (metric.empty()) return invalid("the farm has no search, so it has no trials to plot");
  Json plot = {{"farm", farm},
               {"metric", metric},
               {"goal", json::text_of(table.settings(), "goal")},
               {"trials", Json::array()}};
  for (const TaskRecord& task : table.tasks()) {
    const Json& parameters = json::member(task.task.spec, "parameters");
    if (!parameters.is_object() && other.empty()) continue;
    Json trial = {{"task", task.task.name},
                  {"state", state_name(task.state)},
                  {"parameters", parameters.is_object() ? parameters : Json::object()},
                  {"curve", curves.of(task.task.name)}};
    const Json& value = json::member(task.metrics, metric);
    if (value.is_number()) trial["value"] = value;
    plot["trials"].push_back(std::move(trial));
  }
  return plot;
}

std::string plot_page(const Json& plot) {
  const std::map<std::string, double> ranks = ranks_of(plot);
  const std::string name = escape_html(json::text_of(plot, "farm"));
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + name + "</title>\n" +
         kStyle + "</head><body>\n<h1>" + name + "</h1>\n<h2>Parallel coordinates</h2>\n" +
         coordinates(plot, ranks) + "<h2>Curves</h2>\n" + curves_of(plot, ranks) + "<h2>Trials</h2>\n" +
         rows_of(plot, ranks) + "</body></html>\n";
}

}  // namespace radl::farm
