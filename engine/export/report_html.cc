#include "engine/export/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/html.h"
#include "common/human.h"
#include "common/page_theme.h"
#include "engine/export/svg_chart.h"

namespace radl::engine::exporter {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostClasses = 100;  // for a confusion matrix on one page

constexpr std::string_view kGenerator = "<meta name=\"generator\" content=\"radl-train report\">\n";

// What a report adds to the theme: charts and the confusion matrix.
constexpr std::string_view kStyle = R"(
:root{--heat:37,84,199}@media screen and (prefers-color-scheme:dark){:root{--heat:147,180,255}}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:14px}
svg{width:100%}svg text{font-size:12px;fill:var(--ink2)}svg .title{fill:var(--ink);font-weight:600;font-size:13px}
.grid{stroke:var(--line)}path{fill:none;stroke-width:2}
.s0{stroke:var(--s1)}.s1{stroke:var(--s2)}.s2{stroke:var(--s3)}.s3{stroke:var(--s4)}
svg .l0{fill:var(--s1)}svg .l1{fill:var(--s2)}svg .l2{fill:var(--s3)}svg .l3{fill:var(--s4)}
.doc .facts{width:auto}.doc .facts th{padding-right:28px}
.doc .confusion td,.doc .confusion th{text-align:right;padding:3px 8px;border:1px solid var(--line);font-size:13px;font-variant-numeric:tabular-nums}
)";

std::string cell(const Json& v) {
  if (v.is_string()) return escape_html(v.get<std::string>());
  return escape_html(v.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string table(const Json& object) {
  if (!object.is_object() || object.empty()) return "";
  // Numbers are aligned only among numbers.
  const bool numbers =
      std::all_of(object.begin(), object.end(), [](const Json& one) { return one.is_number(); });
  std::string out = "<table class=\"facts\">\n";
  for (const auto& [key, value] : object.items()) {
    if (value.is_null() || (key == "resumed_from" && value == 0) || value == "") continue;
    out += "<tr><th>" + escape_html(human_label(key)) + (numbers ? "</th><td class=\"num\">" : "</th><td>") +
           (value.is_number() ? human_number(key, value.get<double>()) : cell(value)) + "</td></tr>\n";
  }
  return out + "</table>\n";
}

Series series(const Json& curve, const char* name, const char* key, double factor = 1) {
  Series s{name, {}};
  for (const auto& p : curve) {
    const double y =
        p.is_object() && p.contains(key) && p[key].is_number() ? p[key].get<double>() * factor : NAN;
    const double x =
        p.is_object() && p.contains("epoch") && p["epoch"].is_number() ? p["epoch"].get<double>() : NAN;
    s.points.emplace_back(x, y);
  }
  return s;
}

std::string charts(const Json& curve) {
  if (!curve.is_array()) return "";
  std::string out;
  out += svg_chart(
      {"Loss", "epoch", {series(curve, "training", "train_loss"), series(curve, "test", "test_loss")}, true});
  out += svg_chart(
      {"Accuracy, %",
       "epoch",
       {series(curve, "training", "train_accuracy", 100), series(curve, "test", "test_accuracy", 100)}});
  out += svg_chart({"Learning rate", "epoch", {series(curve, "rate", "rate")}, true});
  return out.empty() ? "" : "<h2>Curves</h2>\n<div class=\"charts\">\n" + out + "</div>\n";
}

std::string confusion(const Json& matrix, const Json& names) {
  if (!matrix.is_array() || matrix.empty() || matrix.size() > kMostClasses) return "";
  const size_t n = matrix.size();
  auto name = [&](size_t i) {
    return escape_html(names.is_array() && names.size() == n && names[i].is_string()
                           ? names[i].get<std::string>()
                           : std::to_string(i));
  };
  std::string out =
      "<h2>Confusion matrix</h2>\n<p class=\"soft\">Rows: the true class. Columns: the predicted "
      "class.</p>\n<div "
      "class=\"wide\"><table class=\"confusion\">\n<tr><th></th>";
  for (size_t c = 0; c < n; ++c) out += "<th>" + name(c) + "</th>";
  out += "<th>correct</th></tr>\n";
  for (size_t r = 0; r < n; ++r) {
    double total = 0;
    std::vector<double> row;
    for (size_t c = 0; c < n; ++c) {
      const bool good = matrix[r].is_array() && c < matrix[r].size() && matrix[r][c].is_number();
      row.push_back(good ? matrix[r][c].get<double>() : 0);
      total += row.back();
    }
    out += "<tr><th>" + name(r) + "</th>";
    for (size_t c = 0; c < n; ++c) {
      out += fmt::format("<td style=\"background:rgba(var(--heat),{:.3f})\">{:g}</td>",
                         total > 0 ? 0.7 * std::sqrt(row[c] / total) : 0, row[c]);
    }
    out += fmt::format("<td>{:.1f}%</td></tr>\n", total > 0 ? 100 * row[r] / total : 0);
  }
  return out + "</table></div>\n";
}

// Its counts are named by what they count.
Json data_shown(const Json& data) {
  Json out = Json::object();
  if (!data.is_object()) return out;
  for (const auto& [key, value] : data.items())
    out[key == "train" ? "training images" : key == "test" ? "test images" : key] = value;
  return out;
}

// The figures that a reader looks for first, on top; the other metrics are a table below.
constexpr std::string_view kResults[] = {"test_accuracy", "test_loss", "train_accuracy", "images_per_second",
                                         "seconds"};

std::string result(const Json& metrics) {
  if (!metrics.is_object()) return "";
  std::string figures;
  for (const std::string_view key : kResults) {
    const auto value = metrics.find(key);
    if (value == metrics.end() || !value->is_number()) continue;
    figures += "<div><dt>" + escape_html(human_label(key)) + "</dt><dd>" +
               human_number(key, value->get<double>()) + "</dd></div>\n";
  }
  return figures.empty() ? "" : "<div class=\"result\"><dl class=\"figures\">\n" + figures + "</dl></div>\n";
}

Json without_results(const Json& metrics) {
  Json rest = metrics;
  if (!rest.is_object()) return rest;
  for (const std::string_view key : kResults)
    if (const auto value = rest.find(key); value != rest.end() && value->is_number()) rest.erase(value);
  return rest;
}

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, body);
}

std::string peers(const Json& list) {
  if (!list.is_array() || list.empty()) return "";
  std::string out = "<table><tr><th>after</th><th>event</th><th>peer</th><th></th></tr>\n";
  for (const auto& p : list) {
    if (!p.is_object()) continue;
    const Json after = p.value("seconds", Json(0));
    out += "<tr><td>" + (after.is_number() ? duration_text(after.get<double>()) : cell(after)) + "</td><td>" +
           cell(p.value("event", Json(""))) + "</td><td>" + cell(p.value("peer", Json(""))) + "</td><td>" +
           cell(p.value("message", Json(""))) + "</td></tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

bool is_report_html(std::string_view text) { return text.substr(0, 512).find(kGenerator) != text.npos; }

Result<std::string> report_html(std::string_view text, const std::string& name) {
  const Json report = Json::parse(text, nullptr, false);
  if (!report.is_object() || !report.contains("report"))
    return Status(Code::Corrupt, name + ": is not a run's report");
  const Json nothing;
  auto part = [&](const char* key) -> const Json& { return report.contains(key) ? report[key] : nothing; };
  std::string title = "Run";
  if (part("model").is_object() && part("model").contains("name")) title = cell(part("model")["name"]);
  if (part("data").is_object() && part("data").contains("name")) title += " on " + cell(part("data")["name"]);
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
                    std::string(kGenerator) +
                    "<meta name=\"viewport\" "
                    "content=\"width=device-width, initial-scale=1\">\n<title>" +
                    title + "</title>\n<style>\n" + std::string(page_theme()) + std::string(kStyle) +
                    "</style>\n</head>\n<body class=\"doc\">\n<h1>" + title + "</h1>\n";
  out += result(part("metrics"));
  out += charts(part("curve"));
  out += confusion(part("confusion"), part("class_names"));
  out += section("Measurements", table(without_results(part("metrics"))));
  out += section("Model", table(part("model")));
  out += section("Data", table(data_shown(part("data"))));
  out += section("Members", peers(part("peers")));
  out += section("Notes", table(part("notes")));
  if (part("job").is_object()) {
    out += "<h2>Job</h2>\n<details><summary>The whole job file</summary><pre class=\"sunk\">" +
           escape_html(part("job").dump(2, ' ', false, Json::error_handler_t::replace)) +
           "</pre></details>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace radl::engine::exporter
