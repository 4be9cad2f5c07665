#include "tools/lsp/findings.h"

#include "compiler/compile.h"
#include "tools/lsp/answers.h"
#include "tools/lsp/uri.h"

namespace radl::lsp {
namespace {

int severity_number(Severity severity) {
  return severity == Severity::Error ? 1 : severity == Severity::Warning ? 2 : 3;
}

Position position_in(const SourceFile& file, uint32_t offset, Encoding encoding) {
  int line = file.line_of(offset);
  std::string_view text = file.line_text(line);
  Position within = LineIndex(text).position(text, offset - file.line_begin(line), encoding);
  return {static_cast<uint32_t>(line - 1), within.character};
}

}  // namespace

CheckJob check_job(Workspace& workspace, OpenDocument& document) {
  CheckJob job;
  job.analysis = workspace.analyse(document);
  for (auto& [uri, open] : workspace.documents()) {
    if (&open != &document) job.others.push_back(workspace.analyse(open));
  }
  job.environment = workspace.environment();
  job.module_path = workspace.search().folders;
  job.image_schemes = workspace.image_schemes;
  // The folders that the editor has opened hold modules too.
  for (const std::string& root : workspace.roots()) job.module_path.push_back(root + "/modules");
  job.encoding = workspace.encoding;
  return job;
}

FindingsPtr find_all(const CheckJob& job) {
  auto findings = std::make_shared<Findings>();
  findings->analysis = job.analysis;
  findings->encoding = job.encoding;
  for (const AnalysisPtr& other : job.others)
    findings->sources.overlay(other->path, std::string(other->source.text()));
  findings->sources.overlay(job.analysis->path, std::string(job.analysis->source.text()));
  CompileOptions options;
  options.environment = job.environment;
  options.module_path = job.module_path;
  options.image_schemes = job.image_schemes;
  options.inputs_may_be_missing = true;
  compile({job.analysis->path}, options, findings->sources, findings->diagnostics);
  findings->diagnostics.sort();
  if (const SourceFile* file = findings->sources.find(std::string_view(job.analysis->path)))
    findings->file = file->id();
  return findings;
}

Json finding_json(const Findings& findings, const Diagnostic& finding) {
  const Analysis& analysis = *findings.analysis;
  const CodeInfo& info = code_info(finding.code);
  bool here = finding.span.file == findings.file;
  Range range = here ? analysis.range(finding.span, findings.encoding) : Range{};
  std::string message = finding.message;
  if (!finding.label.empty()) message += ": " + finding.label;
  if (!finding.help.empty()) message += "\n" + finding.help;
  Json json = {{"range", range_json(range)},
               {"severity", severity_number(finding.severity)},
               {"code", info.id},
               {"source", "radlc"},
               {"message", std::move(message)}};
  Json related = Json::array();
  auto relate = [&](Span span, const std::string& text) {
    const SourceFile* file = findings.sources.find(span.file);
    if (!file || !span.known()) return;
    bool own = span.file == findings.file;
    Range place = own ? analysis.range(span, findings.encoding)
                      : Range{position_in(*file, span.begin, findings.encoding),
                              position_in(*file, span.end, findings.encoding)};
    std::string uri = own ? analysis.uri : uri_of_path(file->path());
    related.push_back({{"location", {{"uri", uri}, {"range", range_json(place)}}}, {"message", text}});
  };
  if (!here) relate(finding.span, finding.message);  // found in a module; reported at the head of this file
  for (const Note& note : finding.notes) relate(note.span, note.message);
  if (!related.empty()) json["relatedInformation"] = std::move(related);
  if (info.name.starts_with("Unused") || info.name.starts_with("NeverUsed"))
    json["tags"] = {1};  // unnecessary
  return json;
}

Json findings_json(const Findings& findings) {
  Json list = Json::array();
  for (const Diagnostic& finding : findings.diagnostics.all()) {
    if (finding.severity != Severity::Note) list.push_back(finding_json(findings, finding));
  }
  return list;
}

}  // namespace radl::lsp
