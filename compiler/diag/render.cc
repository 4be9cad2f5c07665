#include "compiler/diag/render.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/diag/shown_text.h"

namespace radl {
namespace {

using Json = nlohmann::ordered_json;

std::string_view severity_name(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

std::string_view phase_name(Phase phase) {
  static constexpr std::string_view names[] = {"tool", "parse", "check", "language", "json"};
  return names[static_cast<size_t>(phase)];
}

struct Painter {
  bool on;
  std::string operator()(std::string_view style, std::string_view text) const {
    if (!on) return std::string(text);
    return "\x1b[" + std::string(style) + "m" + std::string(text) + "\x1b[0m";
  }
};

std::string_view color_of(Severity severity) {
  return severity == Severity::Error ? "1;31" : severity == Severity::Warning ? "1;33" : "1;36";
}

void snippet(std::string& out, const SourceFile& file, Span span, std::string_view label, Severity severity,
             const RenderOptions& options, size_t margin) {
  Painter paint{options.color};
  int line = file.line_of(span.begin);
  uint32_t begin = file.line_begin(line);
  std::string_view text = file.line_text(line);
  size_t from = span.begin - begin;
  size_t to = std::min<size_t>(std::max(span.end, span.begin + 1) - begin, std::max(text.size(), from + 1));
  ShownLine shown = show_line(text, from, to, options.tab_width);
  std::string number = std::to_string(line);
  std::string blank(margin, ' ');
  out += paint("1;34", blank + " |") + "\n";
  out += paint("1;34", std::string(margin - number.size(), ' ') + number + " |") + " " + shown.text + "\n";
  size_t width = shown.to > shown.from ? shown.to - shown.from : 1;
  std::string mark(width, '^');
  if (!label.empty()) mark += " " + printable(shortened(std::string(label)));
  out += paint("1;34", blank + " |") + " " + std::string(shown.from, ' ') + paint(color_of(severity), mark) +
         "\n";
}

Json place(const SourceMap& sources, Span span) {
  const SourceFile* file = sources.find(span.file);
  if (!file) return Json::object();
  Position from = file->position(span.begin), to = file->position(span.end);
  return {{"file", file->path()},    {"line", from.line},   {"column", from.column}, {"end_line", to.line},
          {"end_column", to.column}, {"begin", span.begin}, {"end", span.end}};
}

Json to_json(const Diagnostic& d, const SourceMap& sources) {
  const CodeInfo& info = code_info(d.code);
  Json out = {{"code", info.id},
              {"severity", severity_name(d.severity)},
              {"phase", phase_name(info.phase)},
              {"message", d.message}};
  out.update(place(sources, d.span));
  if (!d.label.empty()) out["label"] = d.label;
  if (!d.help.empty()) out["help"] = d.help;
  for (const Note& note : d.notes) {
    Json one = {{"message", note.message}};
    one.update(place(sources, note.span));
    out["notes"].push_back(std::move(one));
  }
  for (const Fix& fix : d.fixes) {
    Json one = {{"title", fix.title}, {"edits", Json::array()}};
    for (const TextEdit& edit : fix.edits) {
      Json change = place(sources, edit.span);
      change["replacement"] = edit.replacement;
      one["edits"].push_back(std::move(change));
    }
    out["fixes"].push_back(std::move(one));
  }
  return out;
}

std::string counted(size_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

}  // namespace

std::string render_text(const Diagnostic& d, const SourceMap& sources, const RenderOptions& options) {
  Painter paint{options.color};
  std::string out = paint(color_of(d.severity), std::string(severity_name(d.severity)) + "[" +
                                                    std::string(code_info(d.code).id) + "]") +
                    paint("1", ": " + printable(d.message)) + "\n";
  const SourceFile* file = sources.find(d.span.file);
  size_t margin = file ? std::to_string(file->line_of(d.span.begin)).size() : 1;
  for (const Note& note : d.notes)
    if (const SourceFile* other = sources.find(note.span.file))
      margin = std::max(margin, std::to_string(other->line_of(note.span.begin)).size());
  std::string blank(margin, ' ');
  if (file) {
    out += paint("1;34", blank + "-->") + " " + printable(sources.where(d.span)) + "\n";
    if (options.context) snippet(out, *file, d.span, d.label, d.severity, options, margin);
  }
  for (const Note& note : d.notes) {
    const SourceFile* other = sources.find(note.span.file);
    out += paint("1;34", blank + " = ") + paint("1", "note: ") + printable(shortened(note.message));
    out += other ? " (" + printable(sources.where(note.span)) + ")\n" : "\n";
    if (other && options.context) snippet(out, *other, note.span, "", Severity::Note, options, margin);
  }
  if (!d.help.empty())
    out += paint("1;34", blank + " = ") + paint("1", "help: ") + printable(shortened(d.help)) + "\n";
  for (const Fix& fix : d.fixes)
    out += paint("1;34", blank + " = ") + paint("1", "fix: ") + printable(shortened(fix.title)) + "\n";
  return out;
}

std::string render_text(const Diagnostics& diagnostics, const SourceMap& sources,
                        const RenderOptions& options) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) {
    out += render_text(d, sources, options);
    if (options.context) out += "\n";
  }
  if (diagnostics.dropped() != 0) out += "... and " + std::to_string(diagnostics.dropped()) + " more\n";
  return out;
}

std::string summary(const Diagnostics& diagnostics) {
  std::string out;
  if (diagnostics.errors() != 0) out = counted(diagnostics.errors(), "error");
  if (diagnostics.warnings() != 0)
    out += (out.empty() ? "" : " and ") + counted(diagnostics.warnings(), "warning");
  return out;
}

std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources) {
  Json out = {{"schema", 1}, {"diagnostics", Json::array()}};
  for (const Diagnostic& d : diagnostics.all()) out["diagnostics"].push_back(to_json(d, sources));
  out["errors"] = diagnostics.errors();
  out["warnings"] = diagnostics.warnings();
  out["dropped"] = diagnostics.dropped();
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string explain(const CodeInfo& code) {
  return std::string(code.id) + " (" + std::string(severity_name(code.severity)) +
         "): " + std::string(code.title) + "\n\n" + std::string(code.explanation) + "\n";
}

}  // namespace radl
