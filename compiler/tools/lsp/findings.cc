#include "compiler/tools/lsp/findings.h"

#include "compiler/compile.h"
#include "compiler/tools/check/check.h"
#include "compiler/tools/lsp/answers.h"
#include "compiler/tools/lsp/uri.h"

namespace radl::lsp {
namespace {

int severity_number(Severity severity) {
  return severity == Severity::Error ? 1 : severity == Severity::Warning ? 2 : 3;
}

// The place in its own file; `sources` also holds modules.
Json place_json(const Workspace& workspace, const SourceFile& file, Span span) {
  LineIndex lines(file.text());
  return range_json({lines.position(file.text(), span.begin, workspace.encoding),
                     lines.position(file.text(), span.end, workspace.encoding)});
}

}  // namespace

Findings find_all(Workspace& workspace, const Analysis& analysis) {
  Findings findings;
  for (auto& [uri, open] : workspace.documents())
    findings.sources.overlay(open.document.path(), open.document.text());
  findings.sources.overlay(analysis.path, std::string(analysis.source.text()));
  CompileOptions options;
  options.environment = workspace.environment();
  options.module_path = workspace.search().folders;
  // The folders that the editor has opened hold modules too.
  for (const std::string& root : workspace.roots()) options.module_path.push_back(root + "/modules");
  options.inputs_may_be_missing = asks_for_inputs(*analysis.tree);
  compile({analysis.path}, options, findings.sources, findings.diagnostics);
  findings.diagnostics.sort();
  if (const SourceFile* file = findings.sources.find(std::string_view(analysis.path)))
    findings.file = file->id();
  return findings;
}

Json finding_json(const Workspace& workspace, const Analysis& analysis, const Findings& findings,
                  const Diagnostic& finding) {
  const CodeInfo& info = code_info(finding.code);
  bool here = finding.span.file == findings.file;
  Range range = here ? analysis.range(finding.span, workspace.encoding) : Range{};
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
    std::string uri = span.file == findings.file ? analysis.uri : uri_of_path(file->path());
    related.push_back(
        {{"location", {{"uri", uri}, {"range", place_json(workspace, *file, span)}}}, {"message", text}});
  };
  if (!here) relate(finding.span, finding.message);  // found in a module: told at the head of this file
  for (const Note& note : finding.notes) relate(note.span, note.message);
  if (!related.empty()) json["relatedInformation"] = std::move(related);
  if (info.name.starts_with("Unused") || info.name.starts_with("NeverUsed"))
    json["tags"] = {1};  // unnecessary
  return json;
}

Json diagnostics_of(Workspace& workspace, OpenDocument& document) {
  AnalysisPtr analysis = workspace.analyse(document);
  Findings findings = find_all(workspace, *analysis);
  Json list = Json::array();
  for (const Diagnostic& finding : findings.diagnostics.all()) {
    if (finding.severity == Severity::Note) continue;
    list.push_back(finding_json(workspace, *analysis, findings, finding));
  }
  return list;
}

}  // namespace radl::lsp
