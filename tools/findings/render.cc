// The forms of a report.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/http/url.h"
#include "common/replaced.h"
#include "tools/findings/findings.h"

namespace radl {
namespace {

using Json = nlohmann::json;

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string plural(size_t n, const char* one) { return std::to_string(n) + " " + one + (n == 1 ? "" : "s"); }

// Columns count code points from 1, as in the JSON form.
Json region(const SourceFile& file, Span span) {
  Position begin = file.position(span.begin), end = file.position(span.end);
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

std::string uri_of(const std::string& path) {
  return (path.starts_with("/") ? "file://" : "") + http::percent_encode(path, true);
}

Json location(const SourceFile& file, Span span) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri_of(file.path())}}}, {"region", region(file, span)}}}};
}

const char* sarif_level(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

Json sarif_fix(const SourceMap& sources, const Fix& fix) {
  std::map<uint32_t, Json> by_file;
  for (const TextEdit& edit : fix.edits) {
    const SourceFile* file = sources.find(edit.span.file);
    if (!file) continue;
    Json replacement = {{"deletedRegion", region(*file, edit.span)},
                        {"insertedContent", {{"text", edit.replacement}}}};
    by_file.try_emplace(edit.span.file, Json::array()).first->second.push_back(std::move(replacement));
  }
  Json changes = Json::array();
  for (auto& [id, replacements] : by_file) {
    Json artifact = {{"uri", uri_of(sources.find(id)->path())}};
    changes.push_back({{"artifactLocation", std::move(artifact)}, {"replacements", std::move(replacements)}});
  }
  return {{"description", {{"text", fix.title}}}, {"artifactChanges", std::move(changes)}};
}

Json sarif_result(const DocumentFindings& document, const Diagnostic& each,
                  std::map<std::string, size_t>& rules) {
  std::string id(code_info(each.code).id);
  size_t rule = rules.emplace(id, rules.size()).first->second;
  std::string text = each.message;
  if (!each.help.empty()) text += " (" + each.help + ")";
  Json result = {{"ruleId", id},
                 {"ruleIndex", rule},
                 {"level", sarif_level(each.severity)},
                 {"message", {{"text", text}}}};
  if (const SourceFile* file = document.sources.find(each.span.file)) {
    result["locations"] = Json::array({location(*file, each.span)});
  } else if (!document.paths.empty()) {
    result["locations"] = {
        {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(document.paths[0])}}}}}}};
  }
  for (const Note& note : each.notes) {
    const SourceFile* file = document.sources.find(note.span.file);
    if (!file) continue;
    Json related = location(*file, note.span);
    related["message"] = {{"text", note.message}};
    result["relatedLocations"].push_back(std::move(related));
  }
  for (const Fix& fix : each.fixes) result["fixes"].push_back(sarif_fix(document.sources, fix));
  return result;
}

// Workflow commands end at a line's end and separate properties by , and :.
std::string github_text(std::string text, bool property) {
  text = replaced(replaced(replaced(std::move(text), "%", "%25"), "\r", "%0D"), "\n", "%0A");
  return property ? replaced(replaced(std::move(text), ":", "%3A"), ",", "%2C") : text;
}

}  // namespace

std::string render_text(const FindingsReport& report, const RenderOptions& options) {
  std::string out;
  for (const auto& document : report.documents) {
    std::string text = render_text(document->diagnostics, document->sources, options);
    if (!out.empty() && !text.empty() && !out.ends_with("\n\n")) out += "\n";
    out += text;
  }
  return out;
}

std::string render_json(const FindingsReport& report) {
  Json all = {{"schema", 1},
              {"diagnostics", Json::array()},
              {"errors", report.errors()},
              {"warnings", report.warnings()}};
  for (const auto& document : report.documents) {
    Json one = Json::parse(render_json(document->diagnostics, document->sources));
    for (Json& each : one["diagnostics"]) all["diagnostics"].push_back(std::move(each));
  }
  return dumped(all, 2) + "\n";
}

std::string render_sarif(const FindingsReport& report, const std::string& version) {
  std::map<std::string, size_t> order;  // rule -> its index
  Json results = Json::array();
  for (const auto& document : report.documents) {
    for (const Diagnostic& each : document->diagnostics.all())
      results.push_back(sarif_result(*document, each, order));
  }
  Json rules = Json::array();
  rules.get_ref<Json::array_t&>().resize(order.size());
  for (const auto& [id, index] : order) {
    const CodeInfo& info = *find_code(id);
    rules[index] = {{"id", id},
                    {"name", info.name},
                    {"shortDescription", {{"text", info.title}}},
                    {"fullDescription", {{"text", info.explanation}}},
                    {"help", {{"text", info.explanation}, {"markdown", info.explanation}}},
                    {"defaultConfiguration", {{"level", sarif_level(info.severity)}}}};
  }
  Json driver = {{"name", "radlc"}, {"version", version}, {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"columnKind", "unicodeCodePoints"},
              {"results", std::move(results)}};
  Json sarif = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs", Json::array({run})}};
  return dumped(sarif, 2) + "\n";
}

std::string render_github(const FindingsReport& report) {
  std::string out;
  for (const auto& document : report.documents) {
    for (const Diagnostic& each : document->diagnostics.all()) {
      out += each.severity == Severity::Error     ? "::error "
             : each.severity == Severity::Warning ? "::warning "
                                                  : "::notice ";
      if (const SourceFile* file = document->sources.find(each.span.file)) {
        Position begin = file->position(each.span.begin), end = file->position(each.span.end);
        out += "file=" + github_text(file->path(), true) + ",line=" + std::to_string(begin.line) +
               ",col=" + std::to_string(begin.column) + ",endLine=" + std::to_string(end.line) + ",";
      }
      out += "title=" + std::string(code_info(each.code).id) + "::" + github_text(each.message, false);
      if (!each.help.empty()) out += "%0A" + github_text(each.help, false);
      out += "\n";
    }
  }
  return out;
}

std::string summary(const FindingsReport& report) {
  size_t files = 0;
  for (const auto& document : report.documents) files += document->paths.size();
  std::string out = plural(files, "file") + ": ";
  if (report.errors() == 0 && report.warnings() == 0) return out + "no findings";
  if (report.errors() > 0) out += plural(report.errors(), "error");
  if (report.errors() > 0 && report.warnings() > 0) out += " and ";
  if (report.warnings() > 0) out += plural(report.warnings(), "warning");
  return out;
}

}  // namespace radl
