// Answers that change the text: formatting and quick fixes.
#include "common/text_diff.h"
#include "tools/fmt/format.h"
#include "tools/lsp/answers.h"
#include "tools/lsp/findings.h"

namespace radl::lsp {
namespace {

// Line-wise edits, so that cursors and folds elsewhere stay where they are. Only those that touch lines
// [first, last] when these are given.
Json format_edits(const Query& query, uint32_t first = 0, uint32_t last = UINT32_MAX) {
  const Analysis& analysis = *query.analysis;
  Diagnostics unheard;
  auto formatted = formatter::format(analysis.source, unheard);
  if (!formatted) throw Refused{formatted.status().message()};
  auto before = split_lines(analysis.source.text());
  // The source map holds LF; where the document has CRLF the editor's own line ends come back with the edit.
  auto after = split_lines(*formatted);
  std::vector<std::string> unified;
  if (analysis.source.crlf()) {
    unified.reserve(after.size());
    for (std::string_view line : after) {
      bool crlf = line.size() > 1 && line[line.size() - 2] == '\r';
      unified.emplace_back(crlf ? std::string(line.substr(0, line.size() - 2)) + "\n" : std::string(line));
    }
    after.assign(unified.begin(), unified.end());
  }
  Json edits = Json::array();
  for (const LineChange& change : diff_lines(before, after)) {
    if (change.old_end < first || change.old_begin > last) continue;
    std::string text;
    for (size_t i = change.new_begin; i < change.new_end; ++i) text += after[i];
    Position start{static_cast<uint32_t>(change.old_begin), 0}, end{static_cast<uint32_t>(change.old_end), 0};
    if (change.old_begin == 0)
      start = analysis.position(0, query.workspace.encoding);  // behind a byte order mark
    if (change.old_end == 0) end = start;
    bool at_end = change.old_end == before.size() && !before.empty() && before.back().back() != '\n';
    if (at_end) {  // the last line has no end: the edit reaches to its last character
      end = analysis.position(static_cast<uint32_t>(analysis.source.text().size()), query.workspace.encoding);
      if (change.old_begin == before.size()) start = end;
    }
    edits.push_back({{"range", range_json({start, end})}, {"newText", std::move(text)}});
  }
  return edits;
}

Json edit_of(const Query& query, const Fix& fix) {
  Json edits = Json::array();
  for (const TextEdit& edit : fix.edits) {
    edits.push_back({{"range", query.range(edit.span)}, {"newText", edit.replacement}});
  }
  return {{"changes", {{query.analysis->uri, std::move(edits)}}}};
}

bool touches(Span a, Span b) { return a.begin <= b.end && b.begin <= a.end; }

}  // namespace

Json formatting(const Query& query) { return format_edits(query); }

Json range_formatting(const Query& query, const Json& params) {
  Range range = range_from(params.at("range"));
  uint32_t last =
      range.end.character == 0 && range.end.line > range.start.line ? range.end.line - 1 : range.end.line;
  return format_edits(query, range.start.line, last);
}

Json code_actions(const Query& query, const Json& params) {
  Json actions = Json::array();
  if (auto context = params.find("context"); context != params.end() && context->contains("only")) {
    bool wanted = false;
    for (const Json& kind : context->at("only")) wanted = wanted || kind == "quickfix" || kind == "";
    if (!wanted) return actions;
  }
  Range range = range_from(params.at("range"));
  Span asked{query.analysis->source.id(), query.analysis->offset(range.start, query.workspace.encoding),
             query.analysis->offset(range.end, query.workspace.encoding)};
  FindingsPtr findings = query.document.findings;
  if (!findings) findings = find_all(check_job(query.workspace, query.document));
  for (const Diagnostic& finding : findings->diagnostics.all()) {
    if (finding.span.file != findings->file || !touches(finding.span, asked)) continue;
    for (const Fix& fix : finding.fixes) {
      bool here = true;  // a fix in another file is not offered: that file may be open and changed
      for (const TextEdit& edit : fix.edits) here = here && edit.span.file == findings->file;
      if (!here) continue;
      Json action = {{"title", fix.title},
                     {"kind", "quickfix"},
                     {"isPreferred", finding.fixes.size() == 1},
                     {"diagnostics", Json::array({finding_json(*findings, finding)})},
                     {"edit", edit_of(query, fix)}};
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

}  // namespace radl::lsp
