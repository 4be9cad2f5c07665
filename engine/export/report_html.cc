#include "engine/export/report_html.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/html.h"
#include "common/human.h"
#include "engine/export/svg_chart.h"

namespace radl::engine::exporter {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostClasses = 100;  // for a confusion matrix on one page

constexpr std::string_view kGenerator = "<meta name=\"generator\" content=\"radl-train report\">\n";

constexpr char kStyle[] = R"(<style>
:root{--bg:#fff;--fg:#1c2024;--soft:#667;--line:#dde1e6;--c0:#2563b8;--c1:#c2521b;--c2:#1f7a4d;--c3:#7a3fa0;--heat:37,99,184}
@media(prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e8ea;--soft:#99a;--line:#333a41;--c0:#7fb0f0;--c1:#f0a070;--c2:#70c89a;--c3:#c79be6;--heat:127,176,240}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1em}
svg{width:100%;height:auto}svg text{font-size:12px;fill:var(--soft)}svg .title{fill:var(--fg);font-weight:600;font-size:13px}
.grid{stroke:var(--line)}path{fill:none;stroke-width:2}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}
svg .l0{fill:var(--c0)}svg .l1{fill:var(--c1)}svg .l2{fill:var(--c2)}svg .l3{fill:var(--c3)}
table{border-collapse:collapse}td,th{padding:.25em .7em;text-align:left;border-bottom:1px solid var(--line)}
.wide{overflow-x:auto}.confusion td,.confusion th{text-align:right;padding:.2em .5em;border:1px solid var(--line);font-size:13px}
pre{background:rgba(128,128,128,.12);padding:1em;overflow-x:auto;font-size:13px}
</style>
)";

std::string cell(const Json& v) {
  if (v.is_string()) return escape_html(v.get<std::string>());
  return escape_html(v.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string table(const Json& object) {
  if (!object.is_object() || object.empty()) return "";
  std::string out = "<table>\n";
  for (const auto& [key, value] : object.items()) {
    if (value.is_null() || (key == "resumed_from" && value == 0) || value == "") continue;
    out += "<tr><th>" + escape_html(human_label(key)) + "</th><td>" +
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
  return out.empty() ? "" : "<h2>Course</h2>\n<div class=\"charts\">\n" + out + "</div>\n";
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
      "<h2>Confusion</h2>\n<p>Rows: the true class. Columns: what the model said.</p>\n<div "
      "class=\"wide\"><table class=\"confusion\">\n<tr><th></th>";
  for (size_t c = 0; c < n; ++c) out += "<th>" + name(c) + "</th>";
  out += "<th>right</th></tr>\n";
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
                    "content=\"width=device-width\">\n<title>" +
                    title + "</title>\n" + kStyle + "</head>\n<body>\n<h1>" + title + "</h1>\n";
  out += table(part("metrics"));
  out += charts(part("curve"));
  out += confusion(part("confusion"), part("class_names"));
  out += section("Model", table(part("model")));
  out += section("Data", table(data_shown(part("data"))));
  out += section("Members", peers(part("peers")));
  out += section("Notes", table(part("notes")));
  if (part("job").is_object()) {
    out += "<h2>Job</h2>\n<pre>" +
           escape_html(part("job").dump(2, ' ', false, Json::error_handler_t::replace)) + "</pre>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace radl::engine::exporter
