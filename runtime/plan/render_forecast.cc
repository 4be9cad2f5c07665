// A forecast as text, JSON, Markdown and HTML.
#include <fmt/format.h>

#include <algorithm>

#include "common/html.h"
#include "common/human.h"
#include "runtime/plan/forecast.h"

namespace radl {
namespace {

using foresight::Banded;

// `detail` says how the figure came about. Text shows a long one below the table, once for all rows that
// have it.
struct Row {
  std::string name, value, band, source, detail, band_source;

  std::string from() const {
    return source + (detail.empty() || source.empty() ? "" : ": ") + detail + band_source;
  }
};

constexpr const char* kPrior = "; untested band";
constexpr size_t kLongestBeside = 32;  // characters of a detail
constexpr size_t kMostCounts = 6;      // of nodes over time: of more, the first and the last
constexpr size_t kDigest = 12;         // characters of it that people see

Row row_of(const std::string& name, const Banded& figure) {
  if (!figure.known()) return {name, "unknown", "", "", "", ""};
  const std::string source(foresight::source_name(figure.source));
  const std::string detail = figure.from == source ? "" : figure.from;
  if (figure.value <= 0) return {name, "-", "", "", figure.from, ""};
  return {name,
          duration_text(figure.value),
          duration_text(figure.low) + " to " + duration_text(figure.high),
          source,
          detail,
          figure.band_runs > 0 ? fmt::format("; band from {}", counted(figure.band_runs, "run")) : kPrior};
}

// To the ten thousandth: what is predicted is not known to the millionth.
std::string rounded(const Money& money) {
  return Money{(money.micros + 50) / 100 * 100, money.currency}.text();
}

// "4", "until 12 min, then 1 until 14 min".
Row nodes_row(const PlanForecast& forecast) {
  const auto& nodes = forecast.nodes;
  Row row{"nodes", fmt::format("{}", nodes.front().nodes), "", "", "", ""};
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (i > 1 && i + 1 < nodes.size() && nodes.size() > kMostCounts) continue;
    row.source +=
        fmt::format("{}until {} of the run", i == 1 ? "" : fmt::format(", then {} ", nodes[i - 1].nodes),
                    duration_text(nodes[i].from));
  }
  row.source += fmt::format("; {} of nodes", duration_text(forecast.paid.value));
  return row;
}

// An elastic farm that has a band grows only within it.
Row growth_row(const PlanForecast& forecast) {
  Row row{"growth", fmt::format("up to {}", counted(forecast.growth->nodes, "node")), "", "", "", ""};
  if (const auto& per_hour = forecast.growth->per_hour; per_hour && !per_hour->zero())
    row.band = "up to " + per_hour->text() + "/h";
  row.source = forecast.paid.known() ? "if the queue pays for it, within the band of the cost"
                                     : "if the queue pays for it, once three tasks have finished";
  return row;
}

std::vector<Row> rows_of(const PlanForecast& forecast) {
  std::vector<Row> rows;
  const std::string longer =
      forecast.at_least > 0 ? "longer than " + duration_text(forecast.at_least) : std::string();
  for (const auto& [name, phase] : forecast.phases) {
    rows.push_back(row_of(name, phase));
    if (name == "run" && !longer.empty())
      rows.back() = {name, longer, "", "a short run did not end by then", "", ""};
  }
  if (!forecast.program) rows.push_back(row_of("an epoch", forecast.epoch));
  Row total = row_of("total", forecast.total);
  if (!longer.empty()) total.value = longer;
  if (forecast.total.known())
    total.source = std::string(source_name(forecast.total.source)) + ", like its weakest part";
  rows.push_back(total);
  if (!forecast.nodes.empty()) rows.push_back(nodes_row(forecast));
  if (forecast.growth) rows.push_back(growth_row(forecast));
  if (forecast.cost && !forecast.cost->zero())
    rows.push_back({"cost", rounded(*forecast.cost),
                    rounded(*forecast.cost_low) + " to " + rounded(*forecast.cost_high),
                    forecast.cost_on_demand && forecast.cost_spot
                        ? fmt::format("price x time; {} on demand, {} on spot",
                                      rounded(*forecast.cost_on_demand), rounded(*forecast.cost_spot))
                        : std::string("price x time"),
                    "", ""});
  return rows;
}

std::vector<std::string> remarks_of(const PlanForecast& forecast) {
  std::vector<std::string> remarks;
  if (!forecast.unknown.empty())
    remarks.push_back(fmt::format("The duration of the {} is unknown: {}",
                                  forecast.program ? "program" : "training", forecast.unknown));
  if (!forecast.outside.empty()) remarks.push_back("Outside the measurements: " + forecast.outside + ".");
  if (!forecast.bound.empty())
    remarks.push_back("A step is bound by " + forecast.bound +
                      (forecast.change_most.empty() ? "." : "; " + forecast.change_most + "."));
  remarks.push_back(
      "8 of 10 runs should end within a band; no run has tested an untested band yet. Calibration " +
      forecast.calibration.substr(0, kDigest) + ".");
  return remarks;
}

Json to_json(const Banded& figure) {
  if (!figure.known()) return nullptr;
  return {{"seconds", figure.value}, {"low", figure.low},
          {"high", figure.high},     {"source", foresight::source_name(figure.source)},
          {"from", figure.from},     {"band_runs", figure.band_runs}};
}

}  // namespace

Json to_json(const PlanForecast& forecast) {
  Json phases = Json::object();
  for (const auto& [name, phase] : forecast.phases) phases[name] = to_json(phase);
  Json json = {{forecast.program ? "program" : "training", forecast.training},
               {"phases", phases},
               {"total", to_json(forecast.total)},
               {"bound", forecast.bound},
               {"change_most", forecast.change_most},
               {"outside", forecast.outside},
               {"unknown", forecast.unknown},
               {"calibration", forecast.calibration}};
  if (forecast.program)
    json["at_least_seconds"] = forecast.at_least > 0 ? Json(forecast.at_least) : Json();
  else
    json["epoch"] = to_json(forecast.epoch);
  json["cost"] =
      forecast.cost
          ? Json{{"value", *forecast.cost}, {"low", *forecast.cost_low}, {"high", *forecast.cost_high}}
          : Json();
  if (!forecast.nodes.empty()) {
    json["nodes"] = Json::array();
    for (const farm::NodeCount& one : forecast.nodes)
      json["nodes"].push_back({{"from_seconds", one.from}, {"nodes", one.nodes}});
    json["node_seconds"] = forecast.paid.value;
    json["node_seconds_low"] = forecast.paid.low;
    json["node_seconds_high"] = forecast.paid.high;
  }
  if (forecast.growth)
    json["growth"] = {{"nodes", forecast.growth->nodes},
                      {"per_hour", forecast.growth->per_hour ? Json(*forecast.growth->per_hour) : Json()}};
  if (forecast.cost_on_demand) json["cost"]["on_demand"] = *forecast.cost_on_demand;
  if (forecast.cost_spot) json["cost"]["spot"] = *forecast.cost_spot;
  return json;
}

std::string forecast_text(const PlanForecast& forecast) {
  std::string text = "Forecast of " + forecast.training + ":\n";
  std::vector<std::pair<std::string, std::string>> details;  // names of rows, their detail
  for (const Row& row : rows_of(forecast)) {
    const bool below = row.detail.size() > kLongestBeside;
    const std::string from = below ? row.source + row.band_source : row.from();
    std::string line = fmt::format("  {:<10}  {:<14}  {:<26}  {}", row.name, row.value, row.band, from);
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
    if (!below) continue;
    auto same = std::find_if(details.begin(), details.end(),
                             [&](const auto& one) { return one.second == row.detail; });
    if (same == details.end())
      details.emplace_back(row.name, row.detail);
    else
      same->first += ", " + row.name;
  }
  for (const auto& [names, detail] : details) text += "  " + names + ": " + detail + "\n";
  for (const std::string& remark : remarks_of(forecast)) text += "  " + remark + "\n";
  return text;
}

std::string forecast_markdown(const PlanForecast& forecast) {
  std::string text = "\n**Forecast of " + escape_markdown(forecast.training) +
                     "**\n\n| | | 80% | from |\n|---|--:|---|---|\n";
  for (const Row& row : rows_of(forecast))
    text +=
        fmt::format("| {} | {} | {} | {} |\n", row.name, row.value, row.band, escape_markdown(row.from()));
  for (const std::string& remark : remarks_of(forecast)) text += "\n" + escape_markdown(remark) + "\n";
  return text;
}

std::string forecast_html(const PlanForecast& forecast) {
  std::string text = "<h2>Forecast of <code>" + escape_html(forecast.training) +
                     "</code></h2><table><thead><tr><th></th><th class=\"num\">expected</th><th "
                     "class=\"num\">80% band</th><th>source</th></tr></thead><tbody>\n";
  for (const Row& row : rows_of(forecast))
    text += fmt::format(
        "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"soft\">{}</td></tr>\n",
        escape_html(row.name), escape_html(row.value), escape_html(row.band), escape_html(row.from()));
  text += "</tbody></table>\n";
  for (const std::string& remark : remarks_of(forecast))
    text += "<p class=\"soft\">" + escape_html(remark) + "</p>\n";
  return text;
}

}  // namespace radl
